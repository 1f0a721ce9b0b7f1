"""The gradient function: parameters and seed, forward sweep, reverse sweep, and the gradients returned.

In mode `vjp` the seed has the structure and shape of the result, whatever that is, and the cotangents are returned as
the sweep leaves them: of containers the shadows, arrays that may be borrowed. `split.py` cuts that program in two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import ArgumentError, NotCompiled
from s2s.runtime import numeric, pytree
from s2s.runtime.stores import private
from s2s.transforms.bound import Unbound, unbound_reads
from s2s.transforms.copies import assignments
from s2s.transforms.infer import infer_rest
from s2s.transforms.reverse.adjoints import BORROWED, OWNED, Bars, Spread
from s2s.transforms.reverse.emitted import Emitted, as_reverse, reverse_assign
from s2s.transforms.reverse.fragments import Fragments
from s2s.transforms.reverse.restore import Restorer
from s2s.transforms.reverse.stores import needed, with_saves
from s2s.transforms.reverse.sweep import Sweep
from s2s.transforms.rulebody import Namer
from s2s.transforms.structure import statements
from s2s.transforms.task import Task


def reverse(fn: Function, task: Task) -> Function:
    """The function that computes the gradient (mode `grad`) or value and gradient of `fn`."""
    if not fn.facts.storages:
        return _Joint(fn, task).build()
    trial = _Joint(with_saves(fn), task)
    trial.build()
    saving = with_saves(fn, needed(trial.fn, trial.sweep))
    if saving.facts.saved:
        _refuse_undoing(saving)
    return _Joint(saving, task).build()


def _refuse_undoing(fn: Function) -> None:
    """Refuse to undo writes into memory that arguments hold in their attributes, where the user would see it."""
    for stmt in statements(fn.body):
        value = getattr(stmt, "value", None)
        if core.is_aside(stmt) and isinstance(value, gast.Name) and not K.immutable(fn.facts.kinds[value.id]):
            raise NotCompiled(
                "an attribute of an argument is set, in which writes are undone", origin=core.origin_of(stmt)
            )


class _Joint:
    def __init__(self, fn: Function, task: Task) -> None:
        self.fn = fn
        self.task = task
        self.namer = Namer(fn)
        self.restorer = Restorer(fn, self.namer, lasting=task.mode != "vjp")
        self.split = task.mode == "vjp"
        self.fragments = Fragments(fn, self.namer, task.program, self.restorer, self.split, task.given)
        self.sweep = Sweep(fn, self.namer, self.fragments, self.restorer)
        self.kind = self.fragments.kind
        self.checks: list[Any] = []
        self.fresh: set[str] = set()  # what the cotangent of is an array of its own
        self.mixed = any(map(_other_precision, fn.facts.kinds.values()))

    def build(self) -> Function:
        *body, last = self.fn.body
        origin = core.origin_of(last)
        result, aux = self.results(last)
        seed, seed_kind = self.seed(), self.seed_kind(result)
        self.sweep.bar.reserved.add(seed)
        bars, out = self.seeded(result, seed, origin)
        roots = {root for root, _ in self.fn.facts.leaves.values()}
        for name in self.task.wrt:
            if K.children(self.task.kinds[name]) is not None and name not in roots:
                self.sweep.start_zero(name, bars, out, origin)
        reversed_body = self.sweep.block(body, bars)
        out.extend(reversed_body)
        gradients = self.gradients(bars, out, origin)
        forward = self.restorer.tapes + self.restorer.forward(body) + self.checks
        if self.task.mode != "grad":
            result = self.kept(result, forward, origin)
        returned = self.returned(result, self.kept(aux, forward, origin), gradients)
        new = replace(
            self.fn,
            name=self.fn.name if self.split else f"{self.fn.name}_grad",
            params=core.positional([*self.fn.param_names, seed]) if self.split else with_seed(self.fn.params, seed),
            body=(*forward, *out.stmts, *self.packed(returned, origin)),
            scope=self.namer.scope,
        )
        self.check_bound(new)
        return self.with_kinds(new, seed, seed_kind)

    def check_bound(self, new: Function) -> None:
        """Refuse a reverse sweep that needs a meeting name, for its shape, where that may be unbound."""
        for stmt, name in unbound_reads(new):
            if name in self.restorer.unsure and getattr(stmt, "sweep", None) == "reverse":
                raise Unbound(name, core.origin_of(stmt))

    def kept(self, atom: Any, forward: list[Any], origin: Any) -> Any:
        """What is returned of the forward sweep: a name that a loop carries round is restored by the reverse sweep."""
        if not isinstance(atom, gast.Name):
            return atom
        if self.fn.facts.saved and not K.immutable(self.kind(atom)):
            copy = self.namer.bind("private", private)  # the reverse sweep writes back what was overwritten
            name = self.namer.temporary("value")
            forward.append(core.assign(name, core.call(copy, atom), origin))
            return core.name(name)
        if self.restorer.home.get(atom.id) is None:
            return atom
        name = self.namer.temporary("value")
        forward.append(core.assign(name, atom, origin))
        return core.name(name)

    # --- the result and its seed ---

    def seed(self) -> str:
        """The name of the seed: no variable's, and none that `**kw` could take."""
        taken = {core.stem(n) for n in self.fn.local_names()} | ({"out_bar"} if self.fn.params.kwarg else set())
        return core.unique("out_bar", taken.__contains__)

    def results(self, last: Any) -> tuple[Any, Any]:
        """The atom to be differentiated, and the auxiliary one."""
        value = last.value
        if not self.task.has_aux:
            return value, None
        if isinstance(value, gast.Name):
            for stmt in self.fn.body:
                if core.writes(stmt) == [value.id] and isinstance(stmt.value, gast.Tuple) and len(stmt.value.elts) == 2:
                    return stmt.value.elts[0], stmt.value.elts[1]
        raise NotCompiled(
            "with has_aux, the function returns a pair that is not written as one", origin=core.origin_of(last)
        )

    def seeded(self, result: Any, seed: str, origin: Any) -> tuple[Bars, Emitted]:
        """The adjoint of the result: the seed, of the result's shape."""
        out = Emitted(storages=self.fn.facts.storages)
        bars: Bars = {}
        kind = self.kind(result)
        if self.split:
            self.seeded_alike(result, kind, seed, bars, out, origin)
            return bars, out
        check_result(self.fn.name, kind, origin)
        if isinstance(result, gast.Name) and result.id in self.fn.facts.active:
            if K.ndim_of(kind) == 0 and not isinstance(kind, K.Array):
                if self.mixed:
                    out.add(reverse_assign(self.sweep.bar(result.id), self.of_dtype(kind, seed), origin))
                elif core.derived(result.id, "_bar") != seed:
                    out.add(reverse_assign(self.sweep.bar(result.id), core.name(seed), origin))
                else:
                    self.sweep.bar.names[result.id] = seed
            else:
                checked = core.call(self.namer.bind("require_scalar", numeric.require_scalar), result)
                self.checks.append(core.place(gast.Expr(checked), origin))
                full = core.call(self.namer.numpy("full_like"), result, core.name(seed))
                out.add(reverse_assign(self.sweep.bar(result.id), full, origin))
            bars[result.id] = BORROWED
        return bars, out

    def seeded_alike(self, result: Any, kind: Any, seed: str, bars: Bars, out: Emitted, origin: Any) -> None:
        """The adjoint of the result is the seed itself."""
        if not isinstance(result, gast.Name) or result.id not in self.fn.facts.active:
            return
        if not K.is_known(kind):
            raise NotCompiled("what kind of value is returned is not known when compiling", origin=origin)
        bars[result.id] = BORROWED
        if isinstance(self.task.result, K.Numeric) and isinstance(kind, K.Array):
            # To the caller it may be a number, and so may its adjoint.
            shape = self.hold(core.attribute(result.id, "shape"), "shape", out)
            full = core.call(self.namer.numpy("broadcast_to"), core.name(seed), shape)
            out.add(reverse_assign(self.sweep.bar(result.id), full, origin))
        else:
            self.sweep.bar.names[result.id] = seed

    def of_dtype(self, kind: Any, seed: str) -> Any:
        """The seed in the result's precision, where others are about: a Python float would take on any of them."""
        return core.call(self.namer.numpy(kind.dtype.name), core.name(seed))

    # --- what is returned ---

    def gradients(self, bars: Bars, out: Emitted, origin: Any) -> list[Any]:
        """The gradients in the order asked for, each nobody else's memory."""
        return [self.gradient(name, bars, out, origin) for name in self.task.wrt]

    def gradient(self, name: str, bars: Bars, out: Emitted, origin: Any) -> Any:
        held = {path: leaf for leaf, (root, path) in self.fn.facts.leaves.items() if root == name}
        if held:
            return self.of_items(core.name(name), self.task.kinds[name], (), held, bars, out)
        return self.of_name(name, self.task.kinds[name], bars, out)

    def of_name(self, name: str, kind: Any, bars: Bars, out: Emitted) -> Any:
        """The gradient by a name: its adjoint, as an array or number that is nobody else's."""
        if name not in bars:
            self.sweep.start_zero(name, bars, out, None)
        if isinstance(bars[name], Spread):
            self.sweep.own(name, bars, out, None)
        bar = core.name(self.sweep.bar(name))
        if bars[name] is OWNED or (self.task.owned and isinstance(kind, K.Array)):
            self.fresh.add(name)
        own = bars[name] is OWNED or (self.split and not self.task.owned)  # or is nobody else's business
        if K.children(kind) is not None:
            if self.split:
                return bar
            value = core.call(self.namer.bind("unshadow", pytree.unshadow), name, bar)
        elif isinstance(kind, K.Array) and not own and not self.mixed:
            value = core.call(self.namer.numpy("array"), bar)
        elif isinstance(kind, K.Array) and (kind.ndim == 0 or self.mixed):
            function = "asarray" if own else "array"
            dtype = self.namer.temporary("dtype")
            out.add(reverse_assign(dtype, core.attribute(name, "dtype"), None))
            value = core.call(self.namer.numpy(function), bar, dtype=core.name(dtype))
        elif self.mixed and isinstance(kind, K.Scalar):
            value = core.call(*self.number(kind), bar)
        else:
            return bar
        return self.hold(value, core.stem(bar.id), out)

    def number(self, kind: K.Scalar) -> tuple[str]:
        """What makes a number of this kind."""
        if kind.python:
            made = float if kind.dtype.kind == "f" else complex
            return (self.namer.bind(made.__name__, made),)
        return (self.namer.numpy(kind.dtype.name),)

    def of_items(self, node: Any, kind: Any, path: tuple[Any, ...], held: Any, bars: Bars, out: Emitted) -> Any:
        """The gradient by a container whose items are held in names: a display like it."""
        if path in held and K.differentiable(kind):
            return self.of_name(held[path], kind, bars, out)
        if K.children(kind) is None:
            if self.split and not K.differentiable(kind):
                return core.constant(None)
            item = self.hold(node, "item", out)
            if not K.differentiable(kind):
                return item
            zeros = core.call(self.namer.numpy("zeros_like"), item)
            return self.hold(zeros, "zeros", out) if isinstance(kind, K.Array) else core.constant(0.0)
        owner = self.hold(node, "part", out)
        entries = list(kind.items) if isinstance(kind, K.Dict) else list(enumerate(kind.items))
        items = [
            self.of_items(core.subscript(owner, core.constant(key)), inner, (*path, key), held, bars, out)
            for key, inner in entries
        ]
        if isinstance(kind, K.Dict):
            display: Any = gast.Dict([core.constant(key) for key, _ in entries], items)
        else:
            display = (gast.List if isinstance(kind, K.List) or self.split else gast.Tuple)(items, gast.Load())
        return self.hold(display, f"{core.stem(self.task.wrt[0])}_bar", out)

    def hold(self, value: Any, hint: str, out: Emitted) -> Any:
        if core.is_atom(value):
            return value
        name = self.namer.temporary(hint)
        out.add(reverse_assign(name, value, None))
        return core.name(name)

    def returned(self, result: Any, aux: Any, gradients: list[Any]) -> Any:
        if self.split:
            return gast.Tuple([result, *([] if aux is None else [aux]), *gradients], gast.Load())
        gradient: Any = gradients[0] if self.task.single else gast.Tuple(gradients, gast.Load())
        if self.task.mode == "value_and_grad":
            value = result if aux is None else gast.Tuple([result, aux], gast.Load())
            return gast.Tuple([value, gradient], gast.Load())
        return gradient if aux is None else gast.Tuple([gradient, aux], gast.Load())

    def packed(self, value: Any, origin: Any) -> list[Any]:
        """The final statements: displays of atoms, then the return of an atom."""
        stmts: list[Any] = []

        def hold(node: Any) -> Any:
            if not isinstance(node, gast.Tuple):
                return node
            name = self.namer.temporary("result")
            stmts.append(as_reverse(core.assign(name, gast.Tuple([hold(e) for e in node.elts], gast.Load()), None)))
            return core.name(name)

        atom = hold(value)
        return [*stmts, core.place(gast.Return(atom), None)]

    def seed_kind(self, result: Any) -> K.Kind:
        """The kind of the seed: a number; of a pair it is like the result, and of a container the caller's shadow."""
        kind = self.kind(result)
        if not self.split:
            return K.FLOAT
        return K.UNKNOWN if K.children(kind) is not None or self.task.result is not None else kind

    def with_kinds(self, new: Function, seed: str, seed_kind: K.Kind) -> Function:
        """Facts of the whole function: the primal's, the adjoints' (of like kind), and the temporaries'."""
        facts = self.fn.facts
        known = {**facts.kinds, **self.sweep.kinds, seed: seed_kind}
        # A meeting name has another shape in another round: in the reverse sweep it says nothing of adjoints.
        meeting = {name for name, times in assignments(self.fn).items() if times > 1}
        facts = facts.without_shapes_of(meeting)
        shapes = dict(facts.shapes)
        for name, bar in self.sweep.bar.names.items():
            if bar != seed:
                kind = facts.kinds.get(name, K.UNKNOWN)
                loose = name in self.sweep.loose and isinstance(kind, K.Array)
                known[bar] = K.Numeric(kind.dtype) if loose else kind  # type: ignore[attr-defined]
                if name in self.sweep.vague:
                    known[bar] = K.UNKNOWN
                elif name in shapes and not loose:
                    shapes[bar] = shapes[name]
        order: dict[str, Any] = {"shapes": shapes, "parts": facts.parts, "within": facts.within}
        order.update(ints={}, lengths={})  # these hold within a round, too
        return infer_rest(new.with_facts(kinds=known, fresh=frozenset(self.fresh), tapes=self.restorer.pushed, **order))


def _other_precision(kind: K.Kind) -> bool:
    """Whether a kind is a number or array of another precision than double."""
    dtype = K.dtype_of(kind)
    return dtype is not None and dtype.kind in "fc" and dtype.itemsize != (8 if dtype.kind == "f" else 16)


def check_result(name: str, kind: K.Kind, origin: Any) -> None:
    """Refuse results that are no real scalar, as far as kinds tell."""
    if isinstance(kind, K.NoneKind):
        raise ArgumentError(
            f"`{name}` returns None", origin=origin, hint="a return statement is missing on some path"
        )  # fmt: skip
    dtype = K.dtype_of(kind)
    if dtype is not None and dtype.kind == "b":
        raise ArgumentError(
            f"`{name}` returns a bool, and grad needs a scalar", origin=origin,
            hint="return a number that it depends on",
        )  # fmt: skip
    if dtype is None and not isinstance(kind, K.Unknown):
        raise ArgumentError(
            f"`{name}` returns a {type(kind).__name__.lower()}, and grad needs a scalar", origin=origin,
            hint="return one number; with has_aux=True, a pair of a number and anything",
        )  # fmt: skip
    if dtype is None:
        raise NotCompiled("what kind of value is returned is not known when compiling", origin=origin)
    if dtype.kind == "c":
        raise ArgumentError(
            f"`{name}` returns a complex number, and grad needs a real scalar", origin=origin,
            hint="return its real part or its absolute value",
        )  # fmt: skip


def with_seed(params: gast.arguments, seed: str) -> gast.arguments:
    """The parameters, and the keyword for the seed."""
    keyword = gast.Name(seed, gast.Param(), None, None)
    defaults = [*params.kw_defaults, core.constant(1.0)]
    return core.rebuilt(params, kwonlyargs=[*params.kwonlyargs, keyword], kw_defaults=defaults)
