"""What changes the length of a list, and joins lists, in terms of `append` and `drop_last`.

xs.extend(ys)      ->      for y in ys: append(xs, y)
xs.insert(i, v)    ->      tail = xs[i:]; for _ in tail: drop the last; append(xs, v); extend by tail
xs[i:j] = ys       ->      new = ys[:]; kept = xs[j:]; drop all from i on; extend by new, and by what was kept
[*xs, y]           ->      t = []; extend t by xs; append(t, y)

So lists have no other writes than these two and the store of an item, each with its reversal. A copy of a list is the
slice of all of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.errors import NotCompiled
from s2s.runtime import ordering
from s2s.runtime import stores as S
from s2s.transforms.structure import statements, uses

if TYPE_CHECKING:
    from s2s.transforms.mutation import Mutation

LISTS = (K.List, K.Sequence)
ITERABLE = (K.List, K.Sequence, K.Tuple, K.Range)
NONE = core.constant(None)
ALL = gast.Slice(None, None, None)
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

    def spread(self, stmt: Any) -> list[Any] | None:
        """`z = [*xs, y]`, `z = (*xs, y)`."""
        value, (target,) = stmt.value, stmt.targets
        if not isinstance(value, (gast.List, gast.Tuple)) or not any(isinstance(e, gast.Starred) for e in value.elts):
            return None
        kinds = [self.run.kind(e.value) for e in value.elts if isinstance(e, gast.Starred)]
        if all(isinstance(k, (K.Tuple, K.List)) for k in kinds):
            items = [item for e in value.elts for item in self.items(e)]
            return [*self.out, core.rebuilt(stmt, value=core.rebuilt(value, elts=items))]
        made = self.held(gast.List([], gast.Load()), core.stem(getattr(target, "id", "items")))
        for element in value.elts:
            if not isinstance(element, gast.Starred):
                self.put(S.append, made, element)
                continue
            known, of = self.run.kind(element.value), element.value
            if isinstance(known, LISTS):
                of = self.held(core.subscript(of, ALL), "part")  # in a loop, it may be what was made in another round
            if not isinstance(known, ITERABLE) and not (isinstance(known, K.Array) and known.ndim):
                raise NotCompiled("`*` of what is no list, tuple or array", origin=self.origin)
            self.append_each(made, of)
        whole = made if isinstance(value, gast.List) else core.call(self.run.namer.bind("tuple", tuple), made)
        return [*self.out, core.rebuilt(stmt, value=whole)]

    def items(self, element: Any) -> list[Any]:
        """The items of a tuple or list of known length, as atoms; of what is not spread, itself."""
        if not isinstance(element, gast.Starred):
            return [element]
        count = len(K.children(self.run.kind(element.value)) or ())
        self.run.found = self.run.found or bool(count)
        return [self.held(core.subscript(element.value, core.constant(i)), "item") for i in range(count)]

    def copied(self, function: Any, operand: Any) -> Made | None:
        """A copy, by `xs.copy()`, `copy.copy(xs)` or `copy.deepcopy(xs)`; None for what is not known to have one."""
        known = self.run.kind(operand)
        if isinstance(known, LISTS) and (function is not copy.deepcopy or all(map(_flat, K.children(known) or ()))):
            return [], core.subscript(operand, ALL)
        if function is list.copy:
            return None
        if isinstance(known, K.Array) and known.ndim:
            return [], core.call(core.path(self.run.namer.numpy("copy")), operand)
        return ([], operand) if _flat(known) else None

    def stored(self, xs: Any, part: Any, value: Any) -> list[Any] | None:
        """`xs[i:j] = ys`, with the statements that it stands for; None for what is no list."""
        if not isinstance(self.run.kind(xs), LISTS):
            return None
        known = self.run.kind(value)
        if part.step is not None or not (isinstance(known, ITERABLE) or (isinstance(known, K.Array) and known.ndim)):
            return None
        made = self.held(core.subscript(value, ALL), "new") if isinstance(known, LISTS) else value
        self.replace(xs, part, made)
        return self.out

    def deleted(self, xs: Any, place: Any) -> list[Any] | None:
        """`del xs[i]`, `del xs[i:j]`."""
        if not isinstance(self.run.kind(xs), LISTS):
            return None
        if not isinstance(place, gast.Slice):
            return None if self.pop(xs, place) is None else self.out
        if place.step is not None:
            return None
        self.replace(xs, place, None)
        return self.out

    # --- the forms ---

    def replace(self, xs: Any, part: Any, others: Any) -> None:
        """Other items, or none, in the place of those of a slice; what `others` holds does not change meanwhile."""
        start: Any = core.constant(0)
        if part.lower is not None:
            start = self.length(self.held(core.subscript(xs, gast.Slice(None, part.lower, None)), "head"))
        kept = None
        if part.upper is not None:
            size = self.length(self.held(core.subscript(xs, part), "part"))
            stop = self.held(core.binary(start, gast.Add, size), "stop")
            kept = self.held(core.subscript(xs, gast.Slice(stop, None, None)), "tail")
        self.cut(xs, start)
        for more in (others, kept):
            if more is not None:
                self.append_each(xs, more)

    def length(self, xs: Any) -> Any:
        return self.held(core.call(self.run.namer.bind("len", len), xs), "length")

    def remove(self, xs: Any, value: Any) -> Any:
        find = self.run.namer.bind("position", ordering.position)
        self.taken(xs, self.held(core.call(find, xs, value), "index"))
        return NONE

    def sort(self, xs: Any) -> Any:
        """The items, in the order in which `sorted` gives them."""
        old = self.held(core.subscript(xs, ALL), "old")
        order = self.held(core.call(self.run.namer.bind("sorting", ordering.sorting), old), "order")
        self.cut(xs, core.constant(0))
        self.loop(order, lambda i: self.put(S.append, xs, self.held(core.subscript(old, i), "item")))
        return NONE

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
        return self.taken(xs, index) if isinstance(self.run.kind(index), K.Int) else None

    def taken(self, xs: Any, index: Any) -> Any:
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
    (list.remove, 1): Lists.remove, (list.sort, 0): Lists.sort,
}  # fmt: skip


def _flat(kind: K.Kind) -> bool:
    """Whether nothing of a value, or of what it holds, can be written into."""
    if isinstance(kind, K.Tuple):
        return all(map(_flat, kind.items))
    return K.immutable(kind)
