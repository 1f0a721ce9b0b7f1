"""From a call to the code that serves it.

A driver holds the variants of one function: code generated for arguments of certain kinds. A call runs the generated
dispatch function (`dispatch.py`); if no guard holds, `_miss` finds or compiles a variant and writes the dispatch
function anew. The first call compiles but writes none: a gradient that is made and called once would pay for nothing.

At most eight variants are guarded. Calls of further kinds use *general* ones, in which lists and tuples of like items
have any length, and if these go on multiplying too, the tape.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from s2s import core
from s2s.autograd.record import tape_value_and_grad
from s2s.codegen.build import Built, annotate
from s2s.compiler.argnums import Selection
from s2s.compiler.arguments import check_arguments, check_seed
from s2s.compiler.dispatch import UNSET, Route, dispatcher
from s2s.compiler.dynamic import OBSERVED, observing, to_blame
from s2s.compiler.fallback import Fallbacks, fallback_of, no_source, strict_error, sum_of
from s2s.compiler.given import Values, bound_values, general, is_recording, key_of, passed_functions
from s2s.compiler.guards import Bindings, conditions, interchangeable
from s2s.compiler.layout import Layout, layout_of
from s2s.compiler.objects import kinds_of, reached
from s2s.compiler.program import PROGRAM
from s2s.compiler.reliance import Reliance, primal_of, relies_on
from s2s.compiler.shared import is_shared, reaches_nothing
from s2s.compiler.store import STORE, Compiled
from s2s.errors import ArgumentError, BackendError, NotCompiled, S2SError
from s2s.kinds import Kind
from s2s.rules.registry import registry
from s2s.transforms.task import Task
from s2s.transforms.total import summed

MAX_VARIANTS = 8

# Functions that cannot be compiled, by code, and why.
Blamed = dict[types.CodeType, tuple[types.FunctionType, S2SError]]


@dataclass(frozen=True)
class Request:
    """What a gradient function was asked for."""

    mode: Literal["grad", "value_and_grad", "jvp", "vjp"]
    selection: Selection
    has_aux: bool = False
    strict: bool = False
    summed: bool = False  # of the sum of the function's value
    backend: str | None = None  # "numba": what compiles the generated code


@dataclass(frozen=True)
class Variant:
    """What serves calls with arguments of certain kinds: `call` takes the primal's arguments and the seed."""

    kinds: Mapping[str, Kind]
    call: Callable[..., Any]
    compiled: Compiled
    recorded: frozenset[types.CodeType] = frozenset()  # functions a call of which is recorded by itself


class Driver:
    """The variants of one derivative of one function."""

    def __init__(self, function: types.FunctionType, request: Request, inner: Driver | None = None) -> None:
        """
        function: the primal, a plain function.
        inner: the driver of `function`'s own gradient, if it is that which is differentiated.
        """
        self.function = function
        self.request = request
        self.inner = inner
        self.layout: Layout = layout_of(function)
        self.fallbacks = Fallbacks()
        self.latest: Variant | None = None
        self._lock = threading.RLock()
        self._variants: dict[Any, Variant] = {}
        self._resting: dict[Any, Any] = {}
        self._resting_on: Any = None
        self._routes: dict[int, Route] = {}
        self._bind = Bindings()
        self._calls = 0
        # By mode and parameters, what differentiates this derivative in turn.
        self.derived: dict[Any, Driver] = {}
        self.call: Callable[..., Any] = self._dispatcher()
        # Told of each new dispatch function.
        self.publish: Callable[[Callable[..., Any]], None] = lambda call: None

    # --- calls ---

    def _miss(self, values: tuple[Any, ...], seed: Any) -> Any:
        """A call that no guarded variant serves; `values` are all parameters in order."""
        by_name = dict(zip(self.layout.names, values))
        args, keywords = self.layout.spread(by_name)
        reliance = self._reliance(by_name)
        if is_recording([*values, seed, *reliance.values]):
            # The call is itself part of a record: it is one node of that, or recorded in turn. It can be
            # differentiated again either way.
            made = on_variables(self, by_name, reliance.values) if type(seed) is float and seed == 1 else None
            return self._taped(args, keywords, seed, create_graph=True) if made is None else made[0]
        seed = check_seed(seed, self.layout.seed)
        call = self._found(by_name, reliance).call
        try:
            return call(*args, **keywords, **{self.layout.seed: seed})
        except Exception as error:
            annotate(error)
            raise

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Values:
        """The arguments of a call by parameter, bound as Python binds them."""
        return bound_values(self.function, self.layout, args, keywords)

    def variant(self, values: Values) -> Variant:
        """The variant that serves some arguments; it is compiled if need be."""
        with self._lock:
            return self._look_up(values, self._reliance(values))

    def variant_of_kinds(self, kinds: Mapping[str, Kind]) -> Variant:
        """The variant for arguments of certain kinds, which serves no call: to be looked at."""
        with self._lock:
            self._rest_on(self._reliance({}), ())
            return self._variants.get((key_of(kinds), ())) or self._made(kinds)

    def _found(self, values: Values, reliance: Reliance) -> Variant:
        """The variant, guarded from now on if there is a second call."""
        with self._lock:
            variant = self._look_up(values, reliance)
            self._calls += 1
            if self._calls > 1 and id(variant) not in self._routes and len(self._routes) < MAX_VARIANTS:
                self._routes[id(variant)] = Route(self._condition(variant, reliance, values), variant.call)
                self.call = self._dispatcher()
                self.publish(self.call)
            return variant

    def _look_up(self, values: Values, reliance: Reliance) -> Variant:
        check_arguments(values, self.request.selection)
        passed = reliance.passed
        self._rest_on(reliance, (passed_functions(values), passed))
        kinds = kinds_of(self.function, values)
        variant = self._variants.get((key_of(kinds), passed))
        if variant is None and len(self._variants) >= MAX_VARIANTS:
            kinds = {name: general(kind) for name, kind in kinds.items()}
            variant = self._variants.get((key_of(kinds), passed))
        if variant is None:
            variant = self._variants[key_of(kinds), passed] = self._made(kinds, reliance.functions)
        self.latest = variant
        return variant

    def _reliance(self, values: Values) -> Reliance:
        methods = reached(self.function, values.values()).functions
        passed = {name: value for name, value in values.items() if isinstance(value, types.FunctionType)}
        return relies_on(self.function, registry.find, methods, passed)

    def _rest_on(self, reliance: Reliance, passed: Any) -> None:
        """Forget variants that rest on something else than what the function relies on now.

        passed: what tells apart the functions among the arguments, on whose own names the variants for them rest too.
        """
        self._refuse_own_gradient(reliance)
        if layout_of(self.function) != self.layout:
            name = self.function.__name__
            raise ArgumentError(
                f"the parameters of {name} have changed", hint=f"make its gradient again: grad({name})."
            )
        resting_on = (self.function.__code__, reliance.facts, reliance.bodies, registry.version)
        if resting_on != self._resting.get(passed, resting_on) or len(self._resting) > 4 * MAX_VARIANTS:
            # A helper, module attribute or rule was redefined.
            self._variants.clear()
            self._routes.clear()
            self._resting.clear()
            self._bind = Bindings()
        self._resting[passed] = self._resting_on = resting_on

    def _condition(self, variant: Variant, reliance: Reliance, values: Values) -> str:
        bind = self._bind
        kinds = {name: interchangeable(kind) for name, kind in variant.kinds.items()}
        parts = [test for name, kind in kinds.items() for test in conditions(name, kind, values[name], bind)]
        parts.append(f"{bind(self.function)}.__code__ is {bind(self.function.__code__)}")
        parts.append(f"{bind(registry)}.version == {registry.version}")
        parts.extend(reliance.conditions(frozenset(self.layout.names), bind))
        return " and ".join(dict.fromkeys(parts))

    def _dispatcher(self) -> types.FunctionType:
        routes = list(self._routes.values())
        return dispatcher(self.function, self.layout, routes, self._bind, self._miss, self._renewed, annotate)

    def _renewed(self, values: tuple[Any, ...], seed: Any) -> Any:
        """A call that leaves out an argument whose default was taken away since the dispatch function was made."""
        with self._lock:
            self.call = self._dispatcher()
            self.publish(self.call)
        given = {name: value for name, value in zip(self.layout.names, values) if value is not UNSET}
        args, keywords = self.layout.spread(given)
        return self.call(*args, **keywords, **{self.layout.seed: seed})

    def _refuse_own_gradient(self, reliance: Reliance) -> None:
        code = self.function.__code__
        for fact, value in zip(reliance.facts, reliance.values):
            own = primal_of(value) if not isinstance(value, (types.FunctionType, types.MethodType)) else None
            if own is not None and own.__code__ is code:
                name = self.function.__name__
                raise ArgumentError(
                    f"{name} calls itself as {'.'.join(fact.path.names)}, which is its gradient by now",
                    hint=f"leave {name} undecorated and write `d{name} = grad({name})` below it.",
                )

    # --- variants ---

    def _made(self, kinds: Mapping[str, Kind], reached: Sequence[types.FunctionType] = ()) -> Variant:
        """A variant for some kinds. reached: the functions that may be called."""
        if len(self._variants) >= 2 * MAX_VARIANTS and not self.request.strict:
            reason = f"it is called with arguments of more than {2 * MAX_VARIANTS} different kinds"
            compiled = Compiled(refusal=NotCompiled(reason))
        else:
            compiled = self.compiled(kinds, self._resting_on)
        if self.request.backend == "numba":
            return Variant(kinds, self._by_numba(kinds, compiled), compiled)
        if compiled.refusal is not None and self.request.strict:
            raise strict_error(compiled.refusal)
        blamed: Blamed = {}
        if compiled.refusal is not None and self.inner is None and self.request.mode in ("grad", "value_and_grad"):
            compiled, blamed = self._without(kinds, compiled, reached)
        if compiled.built is not None:
            call = self._adapted(compiled.built.function, compiled.built.function)
            call = self._unshared(call, compiled.writes) if compiled.writes else call
            call = self._by_call(call, blamed) if blamed else call
            return Variant(kinds, call, compiled, frozenset(blamed))
        assert compiled.refusal is not None
        return Variant(kinds, self._recorded(compiled.refusal, blamed), compiled)

    def _without(
        self, kinds: Mapping[str, Kind], whole: Compiled, reached: Sequence[types.FunctionType]
    ) -> tuple[Compiled, Blamed]:
        """What is compiled if calls of functions are recorded that cannot be, with the refusals by function.

        whole: the refusal, which stays where these calls are not all that cannot be compiled.
        """
        compiled, blamed = whole, Blamed()
        while compiled.refusal is not None:
            found = to_blame(compiled.refusal, self.function, reached)
            if found is None or found.__code__ in blamed or OBSERVED.is_refused(found.__code__):
                return whole, blamed
            blamed[found.__code__] = found, compiled.refusal
            if not OBSERVED.has_seen(found.__code__):
                return whole, blamed
            compiled = self.compiled(kinds, self._resting_on, frozenset(blamed))
        return compiled, blamed

    def _by_call(self, call: Callable[..., Any], blamed: Blamed) -> Callable[..., Any]:
        """A variant in which calls of some functions are recorded by themselves."""

        def by_call(*args: Any, **keywords: Any) -> Any:
            for function, refusal in blamed.values():
                self.report(refusal, function)
            try:
                return call(*args, **keywords)
            except S2SError:
                self._forget()
                raise

        return by_call

    def _forget(self) -> None:
        """Compile anew: more is known of functions that are recorded."""
        with self._lock:
            self._variants.clear()
            self._routes.clear()
            self.call = self._dispatcher()
            self.publish(self.call)

    def compiled(
        self, kinds: Mapping[str, Kind], resting_on: Any, recorded: frozenset[types.CodeType] = frozenset()
    ) -> Compiled:
        """The generated derivative for parameters of certain kinds, or the reason why there is none.

        resting_on: what the primal relies on; part of the key under which the result is kept.
        recorded: functions a call of which is recorded by itself.
        """
        task = replace(self.task(kinds), recorded=recorded)
        known = OBSERVED.state(sorted(recorded, key=id))
        key = (self.identity(), task.mode, task.wrt, task.single, task.has_aux, key_of(kinds), resting_on, known)
        return STORE.get(key, self.function, lambda: self.lowered(kinds, resting_on), task)

    def identity(self) -> Any:
        """What is differentiated: the code, the module it runs in, and how often it was differentiated before."""
        summed = self.request.summed
        if self.inner is None:
            return (self.function.__code__, id(self.function.__globals__), summed)
        request = self.inner.request
        return (self.inner.identity(), request.mode, request.selection, request.has_aux, summed)

    def task(self, kinds: Mapping[str, Kind]) -> Task:
        """What the compiler is asked for."""
        selection = self.request.selection
        return Task(
            self.request.mode,
            PROGRAM,
            wrt=selection.params,
            kinds=kinds,
            single=selection.single and selection.whole,
            has_aux=self.request.has_aux,
        )

    def lowered(self, kinds: Mapping[str, Kind], resting_on: Any) -> core.Function:
        """What is differentiated, in Core Python."""
        lowered = self._lowered(kinds, resting_on)
        return summed(lowered) if self.request.summed else lowered

    def _lowered(self, kinds: Mapping[str, Kind], resting_on: Any) -> core.Function:
        """The primal, or the gradient that was generated of it."""
        if self.inner is None:
            return PROGRAM.lower(self.function)
        inner = self.inner.compiled(kinds, resting_on)
        if inner.refusal is not None:
            raise inner.refusal
        if not self.inner.request.selection.whole:
            raise NotCompiled("its gradient by an item of a variadic parameter is taken apart by uncompiled code")
        assert inner.built is not None
        return PROGRAM.lower(inner.built.function)

    def _by_numba(self, kinds: Mapping[str, Kind], compiled: Compiled) -> Callable[..., Any]:
        """A variant that Numba compiles."""
        from s2s.compiler.jit import compiled_by_numba

        if self.request.has_aux:
            raise BackendError("auxiliary results are not compiled by Numba", hint="leave `has_aux` out.")
        sweeps = [] if compiled.built is None else PROGRAM.callees.with_callees(compiled.built)
        params, with_value = self.request.selection.params, self.request.mode == "value_and_grad"
        called = compiled_by_numba(compiled, kinds, sweeps, params, with_value)
        assert compiled.built is not None
        call = self._adapted(compiled.built.function, called)
        return self._unshared(call, compiled.writes) if compiled.writes else call

    def _adapted(self, generated: types.FunctionType, called: Callable[..., Any]) -> Callable[..., Any]:
        """The generated function as a variant calls it: seeded under our name, giving the gradients that are wanted.

        called: what is called in its place, by its parameters.
        """
        if self.request.mode in ("jvp", "vjp"):
            return called
        seed = next(n for n in reversed(layout_of(generated).kwonly) if n not in self.layout.names)
        request, ours = self.request, self.layout.seed
        if seed == ours and request.selection.whole:
            return called

        def call(*args: Any, **keywords: Any) -> Any:
            keywords[seed] = keywords.pop(ours)
            result = called(*args, **keywords)
            if request.selection.whole:
                return result
            if request.mode == "value_and_grad":
                value, gradients = result
                return value, request.selection.pick(gradients)
            if request.has_aux:
                gradients, aux = result
                return request.selection.pick(gradients), aux
            return request.selection.pick(result)

        return call

    def _unshared(self, call: Callable[..., Any], written: Collection[str]) -> Callable[..., Any]:
        """A variant that writes into arguments: where somebody else may hold their memory, the primal is recorded."""
        alone = reaches_nothing(self.function)

        def unshared(*args: Any, **keywords: Any) -> Any:
            refusal = self.shared(self.layout.gathered(args, keywords), written, alone)
            return call(*args, **keywords) if refusal is None else self._recorded(refusal)(*args, **keywords)

        return unshared

    def shared(self, values: Values, written: Collection[str], alone: bool = False) -> NotCompiled | None:
        """The refusal of a program that writes into some arguments, where somebody else may hold what it writes into.

        alone: whether the function is known to reach nothing by name.
        """
        if not written or not is_shared(self.function, values, written, alone):
            return None
        refusal = NotCompiled("an argument that is written into shares memory with another one, or with a global")
        if self.request.strict or self.request.backend == "numba":
            raise strict_error(refusal)
        return refusal

    # --- the tape ---

    @property
    def primal(self) -> Callable[..., Any]:
        """What is differentiated, to be called with all parameters."""
        called = self.function if self.inner is None else self.inner.call
        return sum_of(called) if self.request.summed else called

    def _recorded(self, refusal: S2SError, blamed: Blamed | None = None) -> Callable[..., Any]:
        """A variant that records the primal on the tape, with a warning.

        blamed: functions that are called in it, of which it is not known yet what they return.
        """
        codes = tuple(blamed or ())

        def call(*args: Any, **keywords: Any) -> Any:
            self.report(refusal)
            seed = keywords.pop(self.layout.seed)
            if not codes:
                return self._taped(args, keywords, seed)
            known = OBSERVED.state(codes)
            with observing(codes):
                result = self._taped(args, keywords, seed)
            if OBSERVED.state(codes) != known:
                self._forget()
            return result

        return call

    def report(self, refusal: S2SError, function: types.FunctionType | None = None) -> None:
        """Warn that the primal goes to the tape, or calls of a function in it."""
        function = function or self.function
        code = function.__code__
        fallback = fallback_of(refusal, function.__name__, code.co_filename, code.co_firstlineno)
        self.fallbacks.report(fallback, refusal)

    def recorded(self, values: Mapping[str, Any]) -> Any:
        """A call with Variables among the arguments, recorded as it runs."""
        args, keywords = self.layout.spread(dict(values))
        return self._taped(args, keywords, 1.0, create_graph=True)

    def _taped(self, args: Sequence[Any], keywords: dict[str, Any], seed: Any, create_graph: bool = False) -> Any:
        request = self.request
        params = request.selection.params
        value, aux, by_name = tape_value_and_grad(
            self.primal, params, args, keywords, request.has_aux, seed, create_graph
        )
        gradient = request.selection.pick([by_name[name] for name in params])
        if request.mode == "value_and_grad":
            return ((value, aux) if request.has_aux else value), gradient
        return (gradient, aux) if request.has_aux else gradient


def on_variables(driver: Driver, values: Mapping[str, Any], others: Sequence[Any]) -> Any:
    """A call on Variables as one node; the module of these nodes, above this one, sets this function."""
    return None


def source_of(variant: Variant, name: str) -> Built:
    """The generated function of a variant of `name`; an error that says why, if it is recorded on the tape."""
    if variant.compiled.built is None:
        assert variant.compiled.refusal is not None
        raise no_source(variant.compiled.refusal, name)
    return variant.compiled.built
