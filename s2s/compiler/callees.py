"""The functions that compiled code calls: what they return, and their compiled sweeps.

A function that is called and not inlined is compiled for the kinds of its arguments and for those that are active,
once in a process. A function that calls itself meets itself while it is compiled: it finds the cells of its sweeps,
which are filled when they are done.

What such a function returns is found by a fixed point: a call of which nothing is known yet gives no value (`NEVER`),
so that the returns which do not depend on it come first; then the kinds grow until nothing changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CellType, FunctionType
from typing import Any

from s2s import core
from s2s import kinds as K
from s2s.codegen.build import Built
from s2s.compiler.dynamic import OBSERVED, RecordedPair
from s2s.compiler.reliance import Reliance, relies_on
from s2s.compiler.store import STORE, Backward, compile_function
from s2s.core import Function
from s2s.errors import NotCompiled, S2SError, SourceUnavailableError, UnsupportedSyntaxError
from s2s.kinds import Kind
from s2s.rules.registry import registry
from s2s.transforms.foreign import opened
from s2s.transforms.givenback import refuse_to_give_back, with_written
from s2s.transforms.operations import Operations
from s2s.transforms.task import Program, Task
from s2s.transforms.usercalls import Callee, generalised, widened

# Of one function; then tuples of like items have any length, and at last the function is refused.
MAX_VARIANTS = 8
# A kind that still grows after so many rounds is not known.
_ROUNDS = 8
_ENTRIES = 4096

Key = tuple[Callee, tuple[Kind, ...], Hashable]


@dataclass(eq=False)
class CompiledPair:
    """The sweeps of a function for certain kinds of arguments, in cells that are empty until it is compiled.

    is_met: whether it was asked for before it was compiled: the function may come to call itself.
    promised: what is known of its cotangents before: of such a function, arrays are nobody else's.
    """

    is_met: bool = False
    promised: tuple[bool, ...] = ()
    forward: CellType = field(default_factory=CellType)
    backward: CellType = field(default_factory=CellType)
    built: Built | None = None
    sweep: Backward | None = None

    @property
    def fresh(self) -> tuple[bool, ...]:
        return self.sweep.fresh if self.sweep else self.promised

    def fill(self, built: Built, sweep: Backward) -> None:
        self.built, self.sweep = built, sweep
        self.forward.cell_contents = built.function
        self.backward.cell_contents = sweep.built.function


class Callees:
    """What is known of functions by the kinds of their arguments, and what was compiled of them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.used: dict[Any, dict[tuple[Kind, ...], tuple[Kind, ...]]] = {}
        self.results: dict[Key, Kind] = {}
        self.assumed: dict[Key, Kind] | None = None  # while a fixed point is looked for
        self.visited: set[Key] = set()
        self.changed = False
        self.writes: dict[Key, tuple[str, ...] | S2SError] = {}
        self.assumed_writes: dict[Key, tuple[str, ...]] | None = None
        self.visited_writes: set[Key] = set()
        self.unwritten: dict[Key, tuple[Function, tuple[str, ...]]] = {}  # the programs before writes get versions
        self.made: OrderedDict[Hashable, Any] = OrderedDict()

    # --- kinds of results ---

    def result(self, callee: Callee, kinds: Sequence[Kind]) -> Kind:
        """See `Program.result`. UNKNOWN where the function cannot be compiled, which `written` says."""
        if callee.recorded:
            return OBSERVED.result(callee, kinds)
        with STORE.lock:
            try:
                key = self.key(callee, kinds)
            except NotCompiled:
                return K.UNKNOWN
            if key not in self.results:
                if self.assumed is not None:
                    return self.visit(key)
                self.find_results(key)
            return self.results[key]

    def find_results(self, key: Key) -> None:
        """The kinds of what a function returns, and those that it calls: the least fixed point from below."""
        if len(self.results) > _ENTRIES:
            for known in (self.used, self.results, self.writes):
                known.clear()
        self.assumed = {}
        try:
            for number in range(2 * _ROUNDS):
                self.visited, self.changed = set(), False
                before = dict(self.assumed)
                self.visit(key)
                if not self.changed:
                    break
                if number > _ROUNDS:
                    self.assumed.update({k: K.UNKNOWN for k, v in self.assumed.items() if before.get(k) != v})
            self.results.update({k: K.UNKNOWN if v == K.NEVER else v for k, v in self.assumed.items()})
            self.results.setdefault(key, K.UNKNOWN)
        finally:
            self.assumed = None

    def visit(self, key: Key) -> Kind:
        """The kind that is assumed, joined with what the function returns under the assumptions, once a round."""
        assert self.assumed is not None
        if key not in self.visited:
            self.visited.add(key)
            old = self.assumed.setdefault(key, K.NEVER)
            new = K.join(old, self.returned(key))
            self.changed |= new != old
            self.assumed[key] = new
        return self.assumed[key]

    def returned(self, key: Key) -> Kind:
        from s2s.transforms.copies import copies
        from s2s.transforms.infer import infer
        from s2s.transforms.versions import versions

        callee, kinds, _ = key
        task = self.task("vjp", callee, kinds)
        try:
            fn = self.lowered(callee, kinds)
            for step in (*_BEFORE_VERSIONS(), versions, copies, infer):
                fn = step(fn, task)
        except (NotCompiled, S2SError):
            return K.UNKNOWN
        atom: Any = fn.body[-1].value
        local = getattr(atom, "id", None) in fn.local_names()
        return fn.facts.kinds.get(atom.id, K.NEVER) if local else Operations(fn).kind(atom)

    # --- writes into arguments ---

    def written(self, callee: Callee, kinds: Sequence[Kind]) -> tuple[str, ...]:
        """See `Program.written`."""
        with STORE.lock:
            key = self.key(callee, kinds)
            if key not in self.writes and self.assumed_writes is not None:
                return self.visit_writes(key)
            if key not in self.writes:
                self.find_writes(key)
            found = self.writes[key]
            if isinstance(found, S2SError):
                raise found
            return found

    def find_writes(self, key: Key) -> None:
        """The parameters that a function writes into, and those that it calls: as of kinds, the least fixed point."""
        self.assumed_writes = {}
        try:
            while True:
                self.visited_writes, before = set(), dict(self.assumed_writes)
                self.visit_writes(key)
                if self.assumed_writes == before:
                    break
            for (callee, *_), (fn, written) in self.unwritten.items():
                refuse_to_give_back(fn, written, callee.name)
            self.writes.update(self.assumed_writes)
        except S2SError as refusal:
            self.writes[key] = refusal
        finally:
            self.assumed_writes = None
            self.unwritten.clear()

    def visit_writes(self, key: Key) -> tuple[str, ...]:
        """The parameters that are assumed to be written into, and those that are under the assumptions."""
        assert self.assumed_writes is not None
        known = self.assumed_writes.setdefault(key, ())
        if key not in self.visited_writes:
            self.visited_writes.add(key)
            found = {*known, *self.written_under(key, known)}
            known = self.assumed_writes[key] = tuple(p for p in key[0].params if p in found)
        return known

    def written_under(self, key: Key, assumed: tuple[str, ...]) -> tuple[str, ...]:
        from s2s.transforms.pipeline import ANALYSE, run
        from s2s.transforms.stores import stores

        callee, kinds, _ = key
        fn, task = with_written(self.lowered(callee, kinds), assumed), self.task("vjp", callee, kinds)
        made: list[tuple[str, Function]] = []
        fn = run(fn, task, ANALYSE, made)
        if assumed:
            self.unwritten[key] = made[ANALYSE.index(stores) - 1][1], assumed
        return fn.facts.written

    # --- compiled functions ---

    def pair(self, callee: Callee, kinds: Sequence[Kind], active: Sequence[str]) -> CompiledPair | RecordedPair:
        """See `Program.pair`."""
        if callee.recorded:
            return RecordedPair(callee, kinds, active)
        with STORE.lock:
            key = self.key(callee, kinds)
            pair = self.get(("vjp", key, tuple(active)), CompiledPair, lambda new: self.compile(key, active, new))
            assert isinstance(pair, CompiledPair)
            pair.is_met |= pair.sweep is None
            return pair

    def compile(self, key: Key, active: Sequence[str], pair: CompiledPair) -> None:
        callee, kinds, _ = key
        task, name = self.task("vjp", callee, kinds, active), callee.function.__name__
        compiled = compile_function(lambda: self.lowered(callee, kinds), task, name)
        if pair.is_met and any(isinstance(task.kinds[param], K.Array) for param in active):
            pair.promised = tuple(isinstance(task.kinds[param], K.Array) for param in active)
            compiled = compile_function(lambda: self.lowered(callee, kinds), replace(task, owned=True), name)
        if compiled.built is None or compiled.backward is None:
            assert compiled.refusal is not None
            raise compiled.refusal
        pair.fill(compiled.built, compiled.backward)

    def pushforward(self, callee: Callee, kinds: Sequence[Kind], active: Sequence[str]) -> CellType:
        """See `Program.pushforward`."""

        if callee.recorded:
            raise NotCompiled(f"`{callee.name}` cannot be compiled")

        def compile_into(cell: CellType) -> None:
            compiled = compile_function(
                lambda: self.lowered(callee, key[1]), self.task("jvp", callee, key[1], active), callee.function.__name__
            )
            if compiled.built is None:
                assert compiled.refusal is not None
                raise compiled.refusal
            cell.cell_contents = compiled.built.function

        with STORE.lock:
            key = self.key(callee, kinds)
            cell = self.get(("jvp", key, tuple(active)), CellType, compile_into)
            assert isinstance(cell, CellType)
            return cell

    def get(self, key: Hashable, new: Callable[[], Any], compile_into: Callable[[Any], None]) -> Any:
        """What was made under a key, or is being made; what was made meanwhile goes with what fails."""
        if key not in self.made:
            before = set(self.made)
            made = self.made[key] = new()
            try:
                compile_into(made)
            except BaseException:
                for other in [k for k in self.made if k not in before]:
                    del self.made[other]
                raise
            while len(self.made) > _ENTRIES:
                self.made.popitem(last=False)
        return self.made[key]

    def with_callees(self, *functions: Built) -> list[Built]:
        """Generated functions, and those that they call in turn."""
        pairs = [made for made in self.made.values() if isinstance(made, CompiledPair)]
        parts = {id(pair.forward): pair.built for pair in pairs if pair.built}
        parts |= {id(pair.backward): pair.sweep.built for pair in pairs if pair.sweep}
        found = list(functions)
        for built in found:  # which grows
            for cell in built.function.__closure__ or ():
                called = parts.get(id(cell))
                if called is not None and all(called is not known for known in found):
                    found.append(called)
        return found

    # --- what they are compiled for ---

    def key(self, callee: Callee, kinds: Sequence[Kind]) -> Key:
        """A function, the kinds for which it is compiled, and what it relies on."""
        resting_on = _resting_on(callee, kinds)
        used = self.used.setdefault((callee, resting_on), {})
        wide = tuple(map(widened, kinds))
        if wide not in used:
            if len(set(used.values())) >= MAX_VARIANTS:
                wide = tuple(map(generalised, kinds))
            if wide not in used.values() and len(set(used.values())) >= 2 * MAX_VARIANTS:
                raise NotCompiled(f"{callee.name} is called with arguments of more than {2 * MAX_VARIANTS} kinds")
            used[tuple(map(widened, kinds))] = wide
        return callee, used[tuple(map(widened, kinds))], resting_on

    def task(self, mode: Any, callee: Callee, kinds: Sequence[Kind], active: Sequence[str] = ()) -> Task:
        result = self.results.get(self.key(callee, kinds), K.UNKNOWN)
        return Task(mode, self.program, tuple(active), dict(zip(callee.params, kinds)), single=False, result=result)

    def lowered(self, callee: Callee, kinds: Sequence[Kind]) -> Function:
        """The function in Core; the names of its fixed parameters mean what is passed for them.

        kinds: for which a derivative is compiled.
        """
        try:
            if callee.derivative is not None:
                by_name = dict(zip(callee.params, kinds)) | dict(callee.fixed)
                fn = callee.derivative.lowered(by_name, _resting_on(callee, kinds))
            else:
                fn = self.program.lower(callee.function)
        except (SourceUnavailableError, UnsupportedSyntaxError) as error:
            raise NotCompiled(error.message, origin=error.origin) from error
        fn = fix(fn, {name: static.value for name, static in callee.fixed})
        fn = fn if callee.itself is None else opened(fn, callee.function, callee.itself)
        return with_written(fn, callee.gives_back)


def _BEFORE_VERSIONS() -> Iterator[Any]:
    from s2s.transforms.pipeline import ANALYSE

    for step in ANALYSE:
        if step.__name__ == "versions":
            return
        yield step


def fix(fn: Function, fixed: dict[str, Any]) -> Function:
    """A function without some of its parameters, which are names for certain objects."""
    if not fixed:
        return fn
    scope, names = fn.scope, {}
    for name, value in fixed.items():
        scope, names[name] = scope.bind(name, value, fn.local_names())
    params = fn.params
    kept = core.rebuilt(
        params,
        args=[p for p in params.args if p.id not in fixed],
        posonlyargs=[p for p in params.posonlyargs if p.id not in fixed],
        kwonlyargs=[p for p in params.kwonlyargs if p.id not in fixed],
        kw_defaults=[d for p, d in zip(params.kwonlyargs, params.kw_defaults) if p.id not in fixed],
        defaults=[],
    )
    body = tuple(core.substitute(stmt, names) for stmt in fn.body)
    return replace(fn, params=kept, body=body, scope=scope)


def _resting_on(callee: Callee, kinds: Sequence[Kind]) -> Hashable:
    """What the compilation of a function rests on, beside the kinds of its arguments."""
    passed = [*(static for _, static in callee.fixed), *(kind for kind in kinds if isinstance(kind, K.Static))]
    functions = [callee.function, *(p.value for p in passed if isinstance(p.value, FunctionType))]
    methods = [m for kind in kinds for m in _methods(kind)]
    reliances: list[Reliance] = [relies_on(f, registry.find, methods) for f in functions]
    codes = tuple(f.__code__ for f in (*functions, *methods))
    return codes, tuple((r.facts, r.bodies) for r in reliances), registry.version


def _methods(kind: Kind) -> Iterator[FunctionType]:
    for _, inner in kind.fields if isinstance(kind, K.Object) else ():
        if isinstance(inner, K.Method):
            yield inner.function
        else:
            yield from _methods(inner)
