"""What a compiled function relies on beside its arguments: a function -> facts about its free names.

Generated code calls `np.tanh` by its rule, and holds the bodies of the helpers that the function calls. It is right as
long as these names mean what they meant: `np.tanh` the same ufunc, `helper` the same code, a global number still a
float (its value is read live). The names are those that the function's bytecode reads, and, where one of them is a
Python function, those that its bytecode reads in turn.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from s2s import kinds as K
from s2s.compiler.guards import Bindings, conditions
from s2s.compiler.objects import kind_of, reached
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.runtime.installed import is_installed
from s2s.transforms.calls import is_plain

# Functions of installed libraries are followed so far; then they are taken to stay as they are.
_LIBRARY_FUNCTIONS = 24

_LOADS_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_LOADS_CELL = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_LOADS_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


# The code of a function, and its defaults by identity.
Body = tuple[Any, ...]


def body_of(function: types.FunctionType) -> Body:
    """What a call of a function runs, beside the meaning of its free names."""
    keyword_defaults = function.__kwdefaults__ or {}
    return (
        function.__code__,
        *map(K.Static, function.__defaults__ or ()),
        *((name, K.Static(default)) for name, default in keyword_defaults.items()),
    )


@dataclass(frozen=True)
class Path:
    """A dotted read of a free name: `np.linalg.norm`; `cell` tells a closure cell from a global."""

    names: tuple[str, ...]
    cell: bool


@dataclass(frozen=True)
class Fact:
    """What a free name of a function meant.

    owner: the function whose name it is; None for the compiled function itself, whose like from another call of the
        enclosing function may take its place.
    anchor: the very object, or its type, for what has no kind.
    body: of a Python function, its code and defaults.
    builtin: whether it was found among the builtins.
    """

    owner: types.FunctionType | None
    path: Path
    kind: Kind
    anchor: K.Static | None = None
    body: Body | None = None
    builtin: bool = False


@dataclass(frozen=True)
class Reliance:
    """All facts on which the compilation of a function rests. What was compiled holds for another with equal facts.

    bodies: those of the methods of arguments and objects that it may call.
    values: what the names meant. Not to be kept for long: arrays that closures hold are among them.
    """

    function: types.FunctionType
    facts: tuple[Fact, ...]
    bodies: tuple[Body, ...]
    values: tuple[Any, ...]

    def conditions(self, params: frozenset[str], bind: Bindings) -> Iterator[str]:
        """The conditions under which all facts still hold, for a guard that runs in the function's own scope.

        params: the names that stand for parameters there, and hide globals.
        """
        for fact, value in zip(self.facts, self.values):
            root, *rest = fact.path.names
            if fact.builtin and (fact.owner is not None or root in params):
                yield f"{root!r} not in {self._globals(fact, bind)}"
                continue
            place = self._root(fact, params, bind) + "".join(f".{attr}" for attr in rest)
            if fact.anchor is not None and fact.anchor.value is value:
                yield f"{place} is {bind(value)}"
            if fact.kind is not K.UNKNOWN or fact.anchor is None or fact.anchor.value is not value:
                yield from conditions(place, fact.kind, value, bind)

    def _root(self, fact: Fact, params: frozenset[str], bind: Bindings) -> str:
        root = fact.path.names[0]
        if fact.path.cell:
            return root if fact.owner is None else f"{bind(_cells(fact.owner)[root], 'cell')}.cell_contents"
        # Assertions that pytest has rewritten read names like `@pytest_ar`, which no text can.
        if fact.owner is None and root not in params and root.isidentifier():
            return root
        return f"{self._globals(fact, bind)}[{root!r}]"

    def _globals(self, fact: Fact, bind: Bindings) -> str:
        return bind((fact.owner or self.function).__globals__, "globals")


def relies_on(
    function: types.FunctionType, has_rule: Any = lambda f: False, methods: Iterable[types.FunctionType] = ()
) -> Reliance:
    """What a function relies on now.

    has_rule: tells the functions whose bodies do not matter, as their derivative is known.
    methods: the methods of its arguments that it may call.
    """
    facts: list[Fact] = []
    values: list[Any] = []
    bodies = [body_of(method) for method in methods]
    seen = {function.__code__, *(method.__code__ for method in methods)}
    pending: list[tuple[types.FunctionType | None, types.FunctionType]] = [(method, method) for method in methods]
    pending.append((None, function))
    library = 0
    while pending:
        owner, reader = pending.pop()
        for path in free_paths(reader.__code__):
            found = _fact(owner, reader, path)
            if found is None:
                continue
            fact, value = found
            if is_plain(value):
                seen_of_it = reached(reader, [value])
                # Code that was inlined from its methods holds the object itself.
                fact = replace(fact, kind=kind_of(value, seen_of_it.names), anchor=K.Static(value))
                methods = [f for f in seen_of_it.functions if f.__code__ not in seen]
                seen.update(f.__code__ for f in methods)
                bodies.extend(map(body_of, methods))
                pending.extend((f, f) for f in methods)
            facts.append(fact)
            values.append(value)
            callee = primal_of(value)
            if callee is None or callee.__code__ in seen or has_rule(callee):
                continue
            library += is_installed(callee)
            if not is_installed(callee) or library <= _LIBRARY_FUNCTIONS:
                seen.add(callee.__code__)
                pending.append((callee, callee))
    return Reliance(function, tuple(facts), tuple(bodies), tuple(values))


def primal_of(value: Any) -> types.FunctionType | None:
    """The Python function that a call of a value runs, or differentiates; None if there is none."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    inner = getattr(value, "primal", None) if not isinstance(value, (type, types.ModuleType)) else None
    if isinstance(inner, types.FunctionType) and type(value).__module__.startswith("s2s."):
        return inner
    return value if isinstance(value, types.FunctionType) else None


@functools.lru_cache(maxsize=4096)
def free_paths(code: types.CodeType) -> tuple[Path, ...]:
    """The free names that a code object reads, with the attributes read of them at once; nested functions count."""
    found: dict[Path, None] = {}
    _collect(code, frozenset(code.co_freevars), found)
    return tuple(found)


def _collect(code: types.CodeType, free: frozenset[str], found: dict[Path, None]) -> None:
    names: tuple[str, ...] = ()
    cell = False
    for instruction in dis.get_instructions(code):
        if names and instruction.opname in _LOADS_ATTRIBUTE:
            names = (*names, instruction.argval)
            continue
        if names:
            found[Path(names, cell)] = None
            names = ()
        if instruction.opname in _LOADS_GLOBAL:
            names, cell = (instruction.argval,), False
        elif instruction.opname in _LOADS_CELL and instruction.argval in free:
            names, cell = (instruction.argval,), True
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect(constant, free & frozenset(constant.co_freevars), found)


def _fact(owner: types.FunctionType | None, reader: types.FunctionType, path: Path) -> tuple[Fact, Any] | None:
    """What a path means now, and the object; None for a name that means nothing yet."""
    root, *attributes = path.names
    value = _cell_value(reader, root) if path.cell else reader.__globals__.get(root, MISSING)
    builtin = value is MISSING and not path.cell
    if builtin:
        value = getattr(builtins, root, MISSING)
    if value is MISSING:
        return None
    names = [root]
    for attribute in attributes:
        inner = _attribute(value, attribute)
        if inner is MISSING:
            break
        value = inner
        names.append(attribute)
    kind = K.of(value)
    anchor = K.Static(value if callable(value) else type(value)) if kind is K.UNKNOWN else None
    body = body_of(value) if isinstance(value, types.FunctionType) else None
    return Fact(owner, Path(tuple(names), path.cell), kind, anchor, body, builtin and len(names) == 1), value


def _attribute(value: Any, name: str) -> Any:
    """An attribute that can be read without running code of the user's: of a module, class or plain instance."""
    if isinstance(value, (types.ModuleType, type)):
        return getattr(value, name, MISSING)
    if isinstance(value, K.STATIC_TYPES) or hasattr(type(value), name):
        return MISSING
    return getattr(value, "__dict__", {}).get(name, MISSING)


def _cell_value(function: types.FunctionType, name: str) -> Any:
    try:
        return _cells(function)[name].cell_contents
    except ValueError:  # empty until a later statement of the enclosing function
        return MISSING


def contents(function: types.FunctionType) -> list[Any]:
    """What the closure cells of a function hold."""
    found = [_cell_value(function, name) for name in _cells(function)]
    return [value for value in found if value is not MISSING]


def _cells(function: types.FunctionType) -> Mapping[str, types.CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
