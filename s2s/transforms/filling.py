"""NumPy's functions that write into an array that they are given, in terms of stores of items.

np.add(a, b, out=x)        ->      made = np.add(a, b); x[...] = made
np.copyto(x, v)            ->      x[...] = v
np.putmask(x, mask, v)     ->      chosen = np.where(mask, v, x); x[...] = chosen
np.put(x, places, v)       ->      x.flat[places] = v
x.sort()                   ->      sorted = np.sort(x); x[...] = sorted
np.add.at(x, index, v)     ->      a store of its own, as indices that repeat count each time
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s import core
from s2s import kinds as K
from s2s.errors import NotCompiled
from s2s.runtime import stores as S
from s2s.transforms.aliases import Aliases
from s2s.transforms.conduct import draws

if TYPE_CHECKING:
    from s2s.transforms.mutation import Mutation

WHOLE = core.constant(Ellipsis)
NONE = core.constant(None)
AT = {np.add: S.add_at, np.subtract: S.sub_at}
Made = tuple[list[Any], Any]


class Filling:
    """A call in the pass `mutation`; each form gives the stores that it stands for, and its result."""

    def __init__(self, run: Mutation, origin: Any) -> None:
        self.run = run
        self.origin = origin
        self.out: list[Any] = []

    def form(self, call: Any, function: Any) -> Made | None:
        """The stores that a call stands for, and its result; None for what is no such call."""
        call, target = _with_out(call, function)
        if target is not None:
            return self.into(call, function, target)
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        if function is np.copyto and len(call.args) == 2 and not call.keywords:
            return self.whole(*call.args)
        if function is np.ndarray.fill and len(call.args) == 1:
            return self.whole(owner, call.args[0])
        if function is np.ndarray.sort and owner is not None:
            in_order = core.rebuilt(call, func=core.path(self.run.namer.numpy("sort")), args=[owner, *call.args])
            return self.stored(S.set_item, owner, WHOLE, self.held(in_order, "sorted"))
        if isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "at":
            if function.__self__ in AT and len(call.args) == 3:
                self.fits(call.args[0], call.args[2])
                return self.stored(AT[function.__self__], *call.args)
            raise NotCompiled(f"`np.{function.__self__.__name__}.at` is not compiled yet", origin=self.origin)
        return self.parts(call, function)

    def into(self, call: Any, function: Any, target: Any) -> Made:
        """`f(a, b, out=x)`: the result is made, and stored."""
        at_once = function not in (np.concatenate, np.stack)  # these write parts of `out` before they have read all
        if (
            function is None
            or not at_once
            or draws(function)
            or (isinstance(function, np.ufunc) and (call.keywords or function.nout > 1))
        ):
            raise NotCompiled("a write by `out=` is not compiled here", origin=self.origin)
        self.run.fits(target, self.run.kind_of(call), self.origin)
        stores, _ = self.stored(S.set_item, target, WHOLE, self.held(call, "made"))
        return stores, target

    def parts(self, call: Any, function: Any) -> Made | None:
        """What is told by a mask, by places in the flattened array, or by a diagonal."""
        keywords = {k.arg: k.value for k in call.keywords}
        if function is np.copyto and len(call.args) == 2 and keywords.keys() == {"where"}:
            (x, value), mask = call.args, keywords["where"]
            if isinstance(value, gast.Name) and K.ndim_of(self.run.kind(value)) != 0 and self.may_share(x, value):
                raise NotCompiled("`copyto` reads memory that it may write into", origin=self.origin)
            return self.masked(x, mask, value)
        if function in (np.putmask, np.place) and len(call.args) == 3:
            return self.masked(*call.args) if K.ndim_of(self.run.kind(call.args[2])) == 0 else None
        if function in (np.put, np.ndarray.put) and not keywords:
            x, *others = call.args if function is np.put else [call.func.value, *call.args]
            return None if len(others) != 2 else self.put(x, *others)
        if function is np.fill_diagonal and len(call.args) == 2 and K.ndim_of(self.run.kind(call.args[0])) == 2:
            return self.diagonal(*call.args)
        return None

    # --- forms ---

    def whole(self, x: Any, value: Any) -> Made:
        self.fits(x, value)
        return self.stored(S.set_item, x, WHOLE, value)

    def masked(self, x: Any, mask: Any, value: Any) -> Made:
        self.fits(x, value)
        chosen = core.call(core.path(self.run.namer.numpy("where")), mask, value, x)
        return self.stored(S.set_item, x, WHOLE, self.held(chosen, "chosen"))

    def put(self, x: Any, places: Any, value: Any) -> Made:
        self.fits(x, value)
        return self.stored(S.set_flat, x, places, self.unshared(value))

    def diagonal(self, x: Any, value: Any) -> Made:
        shape = self.held(core.attribute(x, "shape"), "shape")
        width = self.held(core.subscript(shape, core.constant(1)), "width")
        step = self.held(core.binary(width, gast.Add, 1), "step")
        end = self.held(core.binary(width, gast.Mult, width), "end")
        self.fits(x, value)
        return self.stored(S.set_flat, x, gast.Slice(None, end, step), value)

    # --- what they share ---

    def fits(self, x: Any, value: Any) -> None:
        self.run.fits(x, self.run.kind(value), self.origin)

    def held(self, value: Any, hint: str) -> Any:
        return self.run.held(value, self.out, hint, self.origin)

    def stored(self, function: Any, x: Any, *args: Any) -> Made:
        return [*self.out, self.run.store(function, x, *args, origin=self.origin)], NONE

    def may_share(self, x: Any, value: Any) -> bool:
        """Whether two names may share memory."""
        aliases = Aliases(self.run.fn, self.run.operations)
        return aliases.find(getattr(x, "id", "")) == aliases.find(value.id)

    def unshared(self, value: Any) -> Any:
        """A value as it is before a write begins, which may be one into its memory."""
        run = self.run
        if not isinstance(run.kind(value), K.Array) or isinstance(run.definition(value), (gast.BinOp, gast.UnaryOp)):
            return value
        return self.held(core.call(core.path(run.namer.numpy("copy")), value), "values")


def _with_out(call: Any, function: Any) -> tuple[Any, Any]:
    """A call without the array that it is to write its result into, and that array, None if there is none."""
    out = next((k.value for k in call.keywords if k.arg == "out"), None)
    rest = [k for k in call.keywords if k.arg != "out"]
    args = list(call.args)
    if isinstance(function, np.ufunc) and not any(isinstance(a, gast.Starred) for a in args):
        args, last = args[: function.nin], args[function.nin :]  # `np.sin(x, y)` is `np.sin(x, out=y)`
        out = last[0] if len(last) == 1 else out
        if len(last) > 1:
            return call, None
    none = isinstance(out, gast.Constant) and out.value is None
    return (call, None) if out is None or none else (core.rebuilt(call, args=args, keywords=rest), out)
