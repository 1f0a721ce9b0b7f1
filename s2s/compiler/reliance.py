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
from s2s.compiler.classes import class_kind, functions_in, names_in
from s2s.compiler.guards import Bindings, Module, conditions, interchangeable
from s2s.compiler.objects import kind_of, reached
from s2s.core import MISSING
from s2s.kinds import Kind
from s2s.runtime.installed import is_installed
from s2s.transforms.anew import made_anew
from s2s.transforms.classes import is_plain, makes_records, owners

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


_DEFAULTS = Path(("__defaults__",), False)
_KEYWORD_DEFAULTS = Path(("__kwdefaults__",), False)


@dataclass(frozen=True)
class Argument:
    """A function made anew (`transforms/anew.py`) that is passed as an argument."""

    name: str
    code: types.CodeType


@dataclass(frozen=True)
class Place:
    """Where a function made anew is found: by a free name of another one."""

    owner: Owner
    path: Path
    code: types.CodeType


# Whose name it is: of the compiled function itself (None), of a module; the variable of a closure, of another function,
# which is known by identity or found at a place.
Owner = types.FunctionType | Module | Argument | Place | None


@dataclass(frozen=True)
class Same:
    """Something that has been met already: the function of an owner, or one of its cells."""

    owner: Owner
    cell: str | None = None


@dataclass(frozen=True)
class Fact:
    """What a free name of a function meant.

    owner: see `Owner`. The like of the compiled function from another call of the enclosing function may take its
        place, and the like of one that is made anew; what the defaults of that hold are facts, too.
    anchor: the very object, or its type, for what has no kind.
    body: of a Python function, its code and defaults.
    same: what else it is: then there are no further facts of it.
    builtin: whether it was found among the builtins.
    """

    owner: Owner
    path: Path
    kind: Kind
    anchor: K.Static | None = None
    body: Body | None = None
    same: Same | None = None
    builtin: bool = False


@dataclass(frozen=True)
class Reliance:
    """All facts on which the compilation of a function rests. What was compiled holds for another with equal facts.

    bodies: those of the methods of arguments and objects that it may call.
    values: what the names meant. Not to be kept for long: arrays that closures hold are among them.
    functions: those that it may call.
    """

    function: types.FunctionType
    facts: tuple[Fact, ...]
    bodies: tuple[Body, ...]
    values: tuple[Any, ...]
    functions: tuple[types.FunctionType, ...] = ()

    @property
    def passed(self) -> tuple[Fact, ...]:
        """The facts about functions that are made anew and passed, which tell variants apart."""
        return tuple(fact for fact in self.facts if _is_passed(fact.owner))

    def conditions(self, params: frozenset[str], bind: Bindings) -> Iterator[str]:
        """The conditions under which all facts still hold, for a guard that runs in the function's own scope.

        params: the names that stand for parameters there, and hide globals.
        """
        text = _Text(self.function, params, bind)
        for fact, value in zip(self.facts, self.values):
            root = fact.path.names[0] if fact.path.names else ""
            if fact.builtin and (fact.owner is not None or root in params):
                yield f"{root!r} not in {text.globals(fact.owner)}"
            elif fact.same is not None and fact.same.cell is not None:
                yield f"{text.cell(fact.owner, root)} is {text.cell(fact.same.owner, fact.same.cell)}"
            elif fact.same is not None:
                yield f"{text.place(fact.owner, fact.path)} is {text.function(fact.same.owner)}"
            else:
                found, place = text.in_module(fact.owner, fact.path)
                yield from found
                yield from self._holds(fact, value, place, bind)

    def _holds(self, fact: Fact, value: Any, place: str, bind: Bindings) -> Iterator[str]:
        if fact.anchor is not None and fact.anchor.value is value:
            yield f"{place} is {bind(value)}"
        if fact.kind is not K.UNKNOWN or fact.anchor is None or fact.anchor.value is not value:
            yield from conditions(place, fact.kind, value, bind)


def _is_passed(owner: Owner) -> bool:
    while isinstance(owner, Place):
        owner = owner.owner
    return isinstance(owner, Argument)


class _Text:
    """How places are read in the scope of the compiled function."""

    def __init__(self, itself: types.FunctionType, params: frozenset[str], bind: Bindings) -> None:
        self.itself = itself
        self.params = params
        self.bind = bind

    def function(self, owner: Owner) -> str:
        """The function of an owner."""
        if isinstance(owner, Argument):
            return owner.name
        if isinstance(owner, Place):
            return self.place(owner.owner, owner.path)
        return self.bind(self.itself if owner is None else owner)

    def place(self, owner: Owner, path: Path) -> str:
        """What a path of an owner reads; an empty one is the function itself."""
        if not path.names:
            return self.function(owner)
        return ".".join([self._root(owner, path), *path.names[1:]])

    def in_module(self, owner: Owner, path: Path) -> tuple[list[str], str]:
        """The place, with an attribute of NumPy as an item of its dict, and the conditions under which that is so.

        Python finds what a module holds at once, unless that has a `__getattr__`, as NumPy has: then an attribute takes
        twice the time of an item.
        """
        module = self._held(owner, path) if len(path.names) > 1 else MISSING
        names = vars(module) if type(module) is types.ModuleType else {}
        if "__getattr__" not in names or path.names[1] not in names or hasattr(types.ModuleType, path.names[1]):
            return [], self.place(owner, path)
        bind = self.bind
        conditions = [
            f"{self._root(owner, path)} is {bind(module, 'module')}",
            f"{bind(type, 'type')}({bind(module, 'module')}) is {bind(types.ModuleType, 'module')}",
        ]
        return conditions, ".".join([f"{bind(names, 'names')}[{path.names[1]!r}]", *path.names[2:]])

    def _held(self, owner: Owner, path: Path) -> Any:
        """What the root of a path holds now; MISSING where the path is another function's."""
        if owner is not None and not isinstance(owner, Module):
            return MISSING
        if path.cell:
            return _cell_value(self.itself, path.names[0])
        namespace = self.itself.__globals__ if owner is None else owner.namespace
        return namespace.get(path.names[0], MISSING)

    def _root(self, owner: Owner, path: Path) -> str:
        root = path.names[0]
        if path.cell:
            return root if owner is None else f"{self.cell(owner, root)}.cell_contents"
        if isinstance(owner, (Argument, Place)):
            return f"{self.function(owner)}.{root}"
        # Assertions that pytest has rewritten read names like `@pytest_ar`, which no text can.
        if owner is None and root not in self.params and root.isidentifier():
            return root
        return f"{self.globals(owner)}[{root!r}]"

    def cell(self, owner: Owner, name: str) -> str:
        """A closure cell of the function of an owner."""
        if isinstance(owner, types.FunctionType):
            return self.bind(_cells(owner)[name], "cell")
        code = owner.code if isinstance(owner, (Argument, Place)) else self.itself.__code__
        return f"{self.function(owner)}.__closure__[{code.co_freevars.index(name)}]"

    def globals(self, owner: Owner) -> str:
        """The names of a module."""
        return self.bind(owner.namespace if isinstance(owner, Module) else self.itself.__globals__, "globals")


def relies_on(
    function: types.FunctionType,
    has_rule: Any = lambda f: False,
    methods: Iterable[types.FunctionType] = (),
    passed: Mapping[str, types.FunctionType] | None = None,
) -> Reliance:
    """What a function relies on now.

    has_rule: tells the functions whose bodies do not matter, as their derivative is known.
    methods: the methods of its arguments that it may call.
    passed: the functions among its arguments, by parameter.
    """
    run = _Search(function, has_rule)
    run.read_bodies(methods)
    for name, argument in (passed or {}).items():
        run.read_argument(name, argument)
    run.read()
    return Reliance(function, tuple(run.facts), tuple(run.bodies), tuple(run.values), tuple(run.functions))


class _Search:
    """The search for facts, from the names of a function to those of the functions that these mean."""

    def __init__(self, function: types.FunctionType, has_rule: Any) -> None:
        self.itself = function
        self.has_rule = has_rule
        self.facts: list[Fact] = []
        self.values: list[Any] = []
        self.bodies: list[Body] = []
        self.own_cells = {id(cell): name for name, cell in _cells(function).items()}
        self.seen = {function.__code__}  # of functions known by identity
        self.met: dict[types.FunctionType, Owner] = {function: None}  # of those made anew
        self.pending: list[tuple[Owner, types.FunctionType]] = [(None, function)]
        self.functions: list[types.FunctionType] = []
        self.library = 0
        self.names: set[str] = set()
        self.classes: dict[int, type] = {}  # those that the function may make objects of, by the fact about it

    def read_bodies(self, functions: Iterable[types.FunctionType]) -> None:
        """Functions that are called though no name means them: methods of objects."""
        new = [f for f in functions if f.__code__ not in self.seen]
        self.seen.update(f.__code__ for f in new)
        self.bodies.extend(map(body_of, new))
        self.pending.extend((f, f) for f in new)

    def read_argument(self, name: str, function: types.FunctionType) -> None:
        """A function that is passed."""
        if not made_anew(function):
            self.read_bodies([function])
        elif function in self.met:
            twice = Same(self.met[function])
            self.add(Fact(Argument(name, function.__code__), Path((), False), K.UNKNOWN, same=twice), function)
        else:
            self.read_anew(Argument(name, function.__code__), function)

    def read_anew(self, owner: Argument | Place, function: types.FunctionType) -> None:
        """A function that is made anew: what its defaults hold."""
        self.met[function] = owner
        for path, held in ((_DEFAULTS, function.__defaults__), (_KEYWORD_DEFAULTS, function.__kwdefaults__)):
            if held:
                self.add(Fact(owner, path, K.of(held)), held)
        self.note_shared(owner, function)
        self.pending.append((owner, function))

    def note_shared(self, owner: Owner, function: types.FunctionType) -> None:
        """The variables that a function shares with the compiled one: its text reads them by their own names."""
        for name, cell in _cells(function).items():
            own = self.own_cells.get(id(cell))
            if own is not None:
                self.add(Fact(owner, Path((name,), True), K.UNKNOWN, same=Same(None, own)), cell)

    def add(self, fact: Fact, value: Any) -> None:
        self.facts.append(fact)
        self.values.append(value)

    def read(self) -> None:
        while self.pending:
            owner, reader = self.pending.pop()
            self.names.update(names_in(reader.__code__))
            if reader is not self.itself:
                self.functions.append(reader)
            for path in free_paths(reader.__code__):
                whose = owner if path.cell or owner is None else Module(reader.__globals__)
                found = _fact(whose, reader, path)
                if found is not None:
                    self.follow(*found, reader)
            if not self.pending:
                self.read_bodies(functions_in(self.classes.values(), self.names))
        for number, cls in self.classes.items():
            self.facts[number] = replace(self.facts[number], kind=class_kind(cls, self.names))

    def follow(self, fact: Fact, value: Any, reader: types.FunctionType) -> None:
        """Note a fact, and look into the function that it is about."""
        if made_anew(value) and not self.has_rule(value):
            if value in self.met:
                self.add(replace(fact, kind=K.UNKNOWN, same=Same(self.met[value])), value)
            else:
                self.add(fact, value)
                self.read_anew(Place(fact.owner, fact.path, value.__code__), value)
            return
        if is_plain(value):
            reached_by_it = reached(reader, [value])
            # Code that was inlined from its methods holds the object itself.
            fact = replace(fact, kind=kind_of(value, reached_by_it.names), anchor=K.Static(value))
            self.read_bodies(reached_by_it.functions)
        if isinstance(value, type) and makes_records(value) and owners(value):
            self.classes[len(self.facts)] = value
        self.add(fact, value)
        callee = primal_of(value)
        if callee is None or callee.__code__ in self.seen or self.has_rule(callee):
            return
        self.library += is_installed(callee)
        if not is_installed(callee) or self.library <= _LIBRARY_FUNCTIONS:
            self.seen.add(callee.__code__)
            self.note_shared(callee, callee)
            self.pending.append((callee, callee))


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


def _fact(owner: Owner, reader: types.FunctionType, path: Path) -> tuple[Fact, Any] | None:
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
    kind = interchangeable(K.of(value))
    anchor = K.Static(value if callable(value) else type(value)) if kind is K.UNKNOWN else None
    body = body_of(value) if isinstance(value, types.FunctionType) and isinstance(kind, K.Static) else None
    builtin = builtin and len(names) == 1
    return Fact(owner, Path(tuple(names), path.cell), kind, anchor, body, builtin=builtin), value


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
