"""What changes the length of a list, and joins lists, in terms of `append` and `drop_last`.

xs.extend(ys)      ->      for y in ys: append(xs, y)
xs.insert(i, v)    ->      tail = xs[i:]; for _ in tail: drop the last; append(xs, v); extend by tail

So lists have no other writes than these two and the store of an item, each with its reversal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.runtime import stores as S
from s2s.transforms.structure import statements, uses

if TYPE_CHECKING:
    from s2s.transforms.mutation import Mutation

LISTS = (K.List, K.Sequence)
ITERABLE = (K.List, K.Sequence, K.Tuple, K.Range)
NONE = core.constant(None)
Made = tuple[list[Any], Any]


class Lists:
    """Writes of one function; each form gives statements, and the value of the call."""

    def __init__(self, run: Mutation, origin: Any) -> None:
        self.run = run
        self.origin = origin
        self.out: list[Any] = []

    def method(self, function: Any, owner: Any, args: Sequence[Any]) -> Made | None:
        """A call of a method that changes the length of a list or adds to a dict; None for others."""
        form = _FORMS.get((function, len(args)))
        known = self.run.kind(owner)
        if form is None or not isinstance(known, LISTS if function is not dict.update else K.Dict):
            return None
        value = form(self, owner, *args)
        return None if value is None else (self.out, value)

    def joined(self, stmt: Any) -> list[Any] | None:
        """`z = xs + ys` of lists whose items may carry derivatives and are not all written out."""
        value, (target,) = stmt.value, stmt.targets
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add):
            return None
        kinds = self.run.kind(value.left), self.run.kind(value.right)
        lists = all(isinstance(k, K.List) or (isinstance(k, K.Sequence) and k.cls is list) for k in kinds)
        if not lists or not any(isinstance(k, K.Sequence) for k in kinds):
            return None
        if not any(K.differentiable(item) for k in kinds for item in K.children(k) or ()):
            return None
        made = self.held(gast.List([], gast.Load()), core.stem(target.id))
        for part in (value.left, value.right):
            self.extend(made, part)
        return [*self.out, core.rebuilt(stmt, value=made)]

    # --- the forms ---

    def extend(self, xs: Any, others: Any) -> Any:
        display = self.display(others)
        if display is not None and not isinstance(display, gast.Dict):
            for item in display.elts:
                self.put(S.append, xs, item)
            return NONE
        known = self.run.kind(others)
        if not isinstance(known, ITERABLE) and not (isinstance(known, K.Array) and known.ndim):
            return None
        return self.append_each(xs, others)

    def append_each(self, xs: Any, others: Any) -> Any:
        self.loop(others, lambda item: self.put(S.append, xs, item))
        return NONE

    def insert(self, xs: Any, index: Any, value: Any) -> Any:
        if not isinstance(self.run.kind(index), K.Int):
            return None
        tail = self.cut(xs, index)
        self.put(S.append, xs, value)
        return self.append_each(xs, tail)

    def pop(self, xs: Any, index: Any) -> Any:
        if not isinstance(self.run.kind(index), K.Int):
            return None
        item = self.held(core.subscript(xs, index), "item")
        tail = self.cut(xs, index)
        kept = self.held(core.subscript(tail, gast.Slice(core.constant(1), None, None)), "tail")
        self.append_each(xs, kept)
        return item

    def clear(self, xs: Any) -> Any:
        self.cut(xs, core.constant(0))
        return NONE

    def reverse(self, xs: Any) -> Any:
        back = self.held(core.subscript(xs, gast.Slice(None, None, core.constant(-1))), "back")
        self.loop(back, lambda _: self.drop(xs))
        return self.append_each(xs, back)

    def update(self, d: Any, other: Any) -> Any:
        display = self.display(other)
        if not isinstance(display, gast.Dict) or not all(isinstance(key, gast.Constant) for key in display.keys):
            return None
        for key, value in zip(display.keys, display.values):
            self.put(S.set_item, d, key, value)
        return NONE

    # --- their parts ---

    def cut(self, xs: Any, index: Any) -> Any:
        """The items from an index on, which are taken off the list."""
        tail = self.held(core.subscript(xs, gast.Slice(index, None, None)), "tail")
        self.loop(tail, lambda _: self.drop(xs))
        return tail

    def drop(self, xs: Any) -> None:
        self.put(S.drop_last, xs, self.held(core.subscript(xs, core.constant(-1)), "last"))

    def put(self, function: Callable[..., Any], xs: Any, *args: Any) -> None:
        self.out.append(self.run.written_into(function, xs, *args, origin=self.origin))

    def held(self, value: Any, hint: str) -> Any:
        return self.run.held(value, self.out, hint, self.origin)

    def loop(self, over: Any, each: Callable[[Any], None]) -> None:
        item = self.run.namer.temporary("item")
        before, self.out = self.out, []
        each(core.name(item))
        made = gast.For(core.name(item, gast.Store), over, self.out, [], None)
        self.out = [*before, core.place(made, self.origin)]

    def display(self, atom: Any) -> Any:
        """The display that an operand was made by, which is read nowhere else: nobody has written into it."""
        name = atom.id if isinstance(atom, gast.Name) and core.is_temporary(atom.id) else None
        stmts = list(statements(self.run.fn.body)) if name else []
        made = [s.value for s in stmts if name in core.writes(s)]
        if len(made) != 1 or sum(uses(s).count(name) for s in stmts) != 1:
            return None
        parts = getattr(made[0], "keys", None) or getattr(made[0], "elts", None) or []
        plain = not any(part is None or isinstance(part, gast.Starred) for part in parts)
        return made[0] if plain and isinstance(made[0], (gast.List, gast.Tuple, gast.Dict)) else None


_FORMS: dict[Any, Callable[..., Any]] = {
    (list.extend, 1): Lists.extend, (list.insert, 2): Lists.insert, (list.pop, 1): Lists.pop,
    (list.clear, 0): Lists.clear, (list.reverse, 0): Lists.reverse, (dict.update, 1): Lists.update,
}  # fmt: skip
