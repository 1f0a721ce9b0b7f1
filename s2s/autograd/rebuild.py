"""A user's function over stand-ins: the same code with other globals, cells and defaults.

`math.sin(x)` in a function's code finds `math` by name, so the code runs unchanged over globals in which `math` is a
stand-in whose functions take Variables. The functions that a function reaches through its globals, cells and defaults
are rebuilt in the same way. Globals are read live; what is stored into globals and cells is written back at the end.
"""

from __future__ import annotations

import dis
import functools
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from s2s.autograd import dispatch, operation
from s2s.autograd.proxies import FunctionProxy, ModuleProxy, has_value, is_library, package, proxied_builtins
from s2s.autograd.refusals import noted
from s2s.autograd.routes import Routes
from s2s.autograd.standins import of_type, standin
from s2s.autograd.strip import NameIn
from s2s.autograd.traced import Traced
from s2s.autograd.unrebuilt import Unrebuilt
from s2s.autograd.value import Storage, Value, ndarray
from s2s.errors import InplaceModificationError

_PLAIN = (int, float, str, bool, type(None), complex, list, dict, set, bytes)
_CONTAINERS = (list, dict)


class Globals(dict[str, Any]):
    """The globals of rebuilt functions of one module: read from the module when asked, through `counterpart`."""

    def __init__(self, source: dict[str, Any], rebuilder: Rebuilder) -> None:
        super().__init__(__builtins__=rebuilder.builtins, __name__=source.get("__name__"))
        self.source = source
        self.stored: set[str] = set()
        self.containers: dict[int, Any] = {}
        self._counterpart = rebuilder.counterpart
        self._look = rebuilder.unrebuilt.look
        self._known: dict[str, tuple[Any, Any]] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self.stored and dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        value = self.source[name]
        if type(value) in _PLAIN:
            if type(value) in _CONTAINERS:
                self.containers[id(value)] = value
                self._look(value)
            return value
        known = self._known.get(name)
        if known is None or known[0] is not value:
            known = self._known[name] = value, self._counterpart(value)
        return known[1]

    def __setitem__(self, name: str, value: Any) -> None:
        self.stored.add(name)
        dict.__setitem__(self, name, value)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self.source

    def get(self, name: str, default: Any = None) -> Any:
        """As of a dict: for code that asks `globals()`."""
        return self[name] if name in self else default

    def prepare(self, code: types.CodeType) -> None:
        """Note which names the code stores; names of class bodies, which bypass `__getitem__`, are put in place."""
        for inner in _codes(code):
            if not inner.co_flags & 0x1:  # CO_OPTIMIZED: not a class body
                for name in inner.co_names:
                    if name in self.source:
                        dict.__setitem__(self, name, self[name])
            self.stored |= _stored(inner)

    def write_back(self) -> None:
        """What was stored goes to the module."""
        for name in self.stored:
            if dict.__contains__(self, name):
                self.source[name] = dict.__getitem__(self, name)


@functools.lru_cache(maxsize=4096)
def _stored(code: types.CodeType) -> frozenset[str]:
    """The globals that code writes."""
    stores = (i for i in dis.get_instructions(code) if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"))
    return frozenset(i.argval for i in stores)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


Watch = Callable[[types.FunctionType, types.FunctionType, "Rebuilder"], Any]


class _Watch(threading.local):
    """What takes the place of rebuilt functions in this thread, if anything does."""

    watch: Watch | None = None


_watch = _Watch()


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """While this lasts, `watch(function, rebuilt, rebuilder)` gives what records call in the place of a function."""
    before, _watch.watch = _watch.watch, watch
    try:
        yield
    finally:
        _watch.watch = before


class Rebuilder:
    """Rebuilds functions for one record; equal things get one counterpart."""

    def __init__(self, routes: Routes | None = None) -> None:
        """routes: what is reached in two ways in this record."""
        self._routes = routes
        self.builtins = proxied_builtins(self.counterpart)
        self.unrebuilt = Unrebuilt()
        self._made: dict[int, tuple[Any, Any]] = {}
        self._globals: dict[int, Globals] = {}
        self._cells: list[tuple[types.CellType, types.CellType, Any]] = []
        self._storages: dict[int, tuple[Any, Storage]] = {}
        # The copies of arguments, by the identity of the memory of which they are copies.
        self.copies: dict[int, list[Value]] = {}

    def counterpart(self, value: Any) -> Any:
        """What a recorded function sees in place of a value that it finds by name."""
        kind = type(value)
        if kind in _PLAIN or isinstance(value, Value):
            if kind in _CONTAINERS:
                self.unrebuilt.look(value)
            return value
        if kind is type or isinstance(value, type):
            self.unrebuilt.look(value)
            return of_type(value)
        made = self._made.get(id(value))
        if made is None or made[0] is not value:
            made = self._made[id(value)] = value, self._make(value)
        return made[1]

    def _make(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.ModuleType):
            return value if package(value) in ("s2s", "builtins") else ModuleProxy(value, self.counterpart)
        if isinstance(value, types.MethodType):
            if isinstance(value.__func__, types.FunctionType):
                self.unrebuilt.exempt(value.__func__.__code__)
                self.unrebuilt.look(value.__self__)
                return types.MethodType(self.counterpart(value.__func__), value.__self__)
            return FunctionProxy(value)
        if isinstance(value, functools.partial):
            return functools.partial(
                self.counterpart(value.func), *map(self.counterpart, value.args),
                **{k: self.counterpart(v) for k, v in value.keywords.items()},
            )  # fmt: skip
        if isinstance(value, functools._lru_cache_wrapper):
            return self._uncached(value)
        if package(type(value)) == "s2s":
            return value
        made = standin(value, self.counterpart)
        if made is not None:
            return made
        if callable(value) and not isinstance(type(value).__call__, types.FunctionType):
            return FunctionProxy(value)  # written in C, by whatever name its type goes
        if type(value) is ndarray:
            return self.array(value)
        self.unrebuilt.look(value)
        return value

    def _uncached(self, cached: Any) -> Any:
        inner = self.counterpart(cached.__wrapped__)

        def call(*args: Any, **kwargs: Any) -> Any:
            # a result found by value would belong to another record
            return (inner if has_value((args, kwargs)) else cached)(*args, **kwargs)

        return functools.update_wrapper(call, cached)

    def array(self, value: ndarray) -> Any:
        """An array that the function finds by name: it can join the graph when it is written."""
        if value.dtype.kind not in "fc":
            return value
        traced = Traced.make(value)
        root = dispatch.root(value)
        known = self._storages.get(id(root))
        if known is None:
            known = self._storages[id(root)] = root, traced.storage()
        else:
            known[1].guard = "two names share the memory of one array"
        traced._storage = known[1]
        if self._routes is not None:
            known[1].guard = known[1].guard or self._routes.named(value)
        for copy in self.copies.get(id(root), ()):
            self._apart(copy.storage(), known[1])
        return traced

    @property
    def arrays(self) -> set[int]:
        """The memory of the arrays that were found by name, by identity."""
        return set(self._storages)

    def _apart(self, of_copy: Storage, storage: Storage) -> None:
        """An array found by name, of which an argument is a copy here: neither can be written."""
        shared = "an argument and a name of the function's share its memory"
        for one in (of_copy, storage):
            if one.version:
                message = f"{one.writer!r} has written an array, but {shared}"
                raise noted(InplaceModificationError(message, hint="write into a copy"))
            one.guard = shared

    def _function(self, function: types.FunctionType) -> Any:
        if isinstance(function.__globals__, Globals):
            return function
        name = function.__module__ or ""
        if name.startswith("s2s.") and not name.startswith(("s2s.rules", "s2s.autograd.operation")):
            return FunctionProxy(function) if operation.find(function) is not None else function
        if is_library(function) or (operation.find(function) is not None and not name.startswith("s2s.")):
            return FunctionProxy(function)
        rebuilt = self.rebuild(function)
        return rebuilt if _watch.watch is None else _watch.watch(function, rebuilt, self)

    def rebuild(self, function: types.FunctionType) -> types.FunctionType:
        """The function over stand-ins."""
        source = function.__globals__
        scope = self._globals.get(id(source))
        if scope is None:
            scope = self._globals[id(source)] = Globals(source, self)
        scope.prepare(function.__code__)
        self.unrebuilt.rebuilt(function.__code__)
        cells = tuple(map(self._cell, function.__closure__ or ()))
        rebuilt = types.FunctionType(function.__code__, scope, function.__name__, None, cells or None)
        self._made[id(function)] = function, rebuilt  # before its cells are filled, which may hold it
        rebuilt.__dict__.update(function.__dict__)
        rebuilt.__qualname__ = function.__qualname__
        rebuilt.__module__ = function.__module__
        rebuilt.__doc__ = function.__doc__
        if function.__defaults__:
            rebuilt.__defaults__ = tuple(map(self.counterpart, function.__defaults__))
        if function.__kwdefaults__:
            rebuilt.__kwdefaults__ = {k: self.counterpart(v) for k, v in function.__kwdefaults__.items()}
        for cell in function.__closure__ or ():
            self._fill(cell)
        return rebuilt

    def _cell(self, cell: types.CellType) -> types.CellType:
        """The cell that takes the place of one; all functions that share the one share the other."""
        made = self._made.get(id(cell))
        if made is None:
            made = self._made[id(cell)] = cell, types.CellType()
        return made[1]

    def _fill(self, cell: types.CellType) -> None:
        new = self._cell(cell)
        if is_full(cell) and not is_full(new):
            new.cell_contents = counterpart = self.counterpart(cell.cell_contents)
            self._cells.append((new, cell, counterpart))

    def write_back(self) -> list[Any]:
        """What the function stored into globals and cells goes to the user's own; returns where Values may be left.

        That is: namespaces, cells, and the lists, dicts and objects that the function could reach by name.
        """
        places: list[Any] = []
        for scope in self._globals.values():
            scope.write_back()
            places.extend(scope.containers.values())
            places.extend(NameIn(scope.source, name) for name in scope.stored)
        for new, cell, before in self._cells:
            if is_full(new) and new.cell_contents is not before:
                cell.cell_contents = new.cell_contents
            places.append(cell)
        places.extend(value for value, made in self._made.values() if made is value)
        return places


def is_full(cell: types.CellType) -> bool:
    """Whether a cell holds a value."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


_RULES = Rebuilder()


def over_proxies(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The body of a rule over stand-ins, so that it can run on Values."""
    return _RULES.counterpart(formula)  # type: ignore[no-any-return]


operation.over_proxies = over_proxies
