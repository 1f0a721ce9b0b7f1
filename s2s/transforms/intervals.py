"""Parts of arrays as an interval for each axis, in terms of sizes and of the loops' indices (`dims`).

An index counts from the end where it is negative. So something is known of it only if it surely is not: a constant, a
length, the index of a loop over a range that starts at zero or above, and sums of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import gast

from s2s import kinds as K
from s2s.transforms.dims import Sizes, Term
from s2s.transforms.operations import Operations
from s2s.transforms.sameshape import constant


class Interval(NamedTuple):
    """From `low` to `high`, both included; None for no bound."""

    low: Term | None
    high: Term | None


ALL = Interval(None, None)
Region = list[Interval]


class Intervals:
    """The regions of indices.

    definitions: the assignments of names that are assigned once. loops_of: by index, the loops that assign it, where
    nothing else does.
    """

    def __init__(self, operations: Operations, sizes: Sizes) -> None:
        self.operations = operations
        self.sizes = sizes
        self.definitions: dict[str, Any] = {}
        self.loops_of: dict[str, list[Any]] = {}

    def region(self, x: Any, index: Any) -> Region:
        """The region of an index; no intervals where it may be anywhere."""
        if not isinstance(self.operations.kind(x), K.Array):
            return []
        parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
        sizes = self.sizes.shape(x) or ()
        found: Region = []
        for axis, part in enumerate(parts):
            if isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis):
                return found
            term = self.sizes.integer(part)
            if isinstance(part, gast.Slice):
                found.append(self.interval(part))
            elif term is not None or isinstance(self.operations.kind(part), K.Int):
                at = self.place(term, sizes[axis] if axis < len(sizes) else None)
                found.append(ALL if at is None else Interval(at, at))
            else:
                return found
        return found

    def place(self, term: Term | None, size: Term | None) -> Term | None:
        """Where an index is on an axis, counted from its start; None where that is not known.

        What is not on the axis raises: so `x[-2]` is at `n - 2`, and `x[n - 1]` there where it says.
        """
        if term is not None and size is not None:
            if not term.roots and term.constant < 0:
                return size.plus(term)
            if size.plus(term, -1) == Term(1):
                return term
        return self.not_negative(term)

    def interval(self, part: Any) -> Interval:
        """What a slice may take of an axis."""
        integer = self.sizes.integer
        step = None if part.step is None else integer(part.step)
        if (step is not None and (step.roots or step.constant < 0)) or (part.step is not None and step is None):
            return ALL
        low = None if part.lower is None else self.not_negative(integer(part.lower))
        high = None if part.upper is None else self.not_negative(integer(part.upper))
        return Interval(low, None if high is None else high.plus(Term(-1)))

    def not_negative(self, term: Term | None) -> Term | None:
        """The term, if it surely is no negative number, which would count from the end."""
        least = None if term is None else self.least(term)
        return term if least is not None and least >= 0 else None

    def least(self, term: Term) -> int | None:
        """A number that a term is at least."""
        total = term.constant
        for root, factor in term.roots:
            low = self.least_root(root)
            if low is None or factor < 0:
                return None
            total += low * factor
        return total

    def least_root(self, root: Any) -> int | None:
        if root[0] in ("length", "count", "positive", "slice", "common", "least"):
            return 0
        loops = self.loops(root)
        return least_of(map(self.start, loops)) if loops else None

    def most(self, term: Term) -> Term | None:
        """What a term is at most, in terms of no loop's index."""
        total = term
        for root, factor in term.roots:
            loops = self.loops(root)
            if loops:
                end = self.end(loops[0]) if len(loops) == 1 and factor > 0 else None
                if end is None:
                    return None
                total = total.plus(Term(0, ((root, 1),)), -factor).plus(end, factor)
        return total

    def loops(self, root: Any) -> list[Any]:
        """The loops of which a root is the index."""
        return self.loops_of.get(root[1], []) if root[0] == "value" else []

    # --- loops ---

    def end(self, loop: Any) -> Term | None:
        """The greatest value of the index of a loop over a range, in terms of no loop's index."""
        args, direction, _ = self.range(loop)
        if not args:
            return None
        last = self.sizes.integer(args[0 if direction < 0 or len(args) == 1 else 1])
        last = None if last is None else self.most(last)
        return last if last is None or direction < 0 else last.plus(Term(-1))

    def start(self, loop: Any) -> int | None:
        """The least value of the index of a loop over a range."""
        args, direction, _ = self.range(loop)
        if not args:
            return None
        if len(args) == 1:
            return 0
        least = self.sizes.integer(args[0 if direction > 0 else 1])
        low = None if least is None else self.least(least)
        return low if low is None or direction > 0 else low + 1

    def range(self, loop: Any) -> tuple[list[Any], int, int]:
        """Of a loop over a range: its arguments, the sign of its step, and whether the index grows (1) or falls (-1).

        No arguments, and zeros, of any other loop.
        """
        made, order = self.made(loop.iter), 1
        straight = backwards_of(made) or self.reversed(made)
        if straight is not None:
            made, order = self.made(straight), -1
        if not isinstance(made, gast.Call) or made.keywords or self.operations.function(made) is not range:
            return [], 0, 0
        step = self.sizes.integer(made.args[2]) if len(made.args) == 3 else Term(1)
        if step is None or step.roots or not step.constant:
            return [], 0, 0
        sign = 1 if step.constant > 0 else -1
        return list(made.args), sign, sign * order

    def made(self, node: Any) -> Any:
        """What a name is assigned, if that is known; any other expression as it is."""
        return getattr(self.definitions.get(node.id), "value", None) if isinstance(node, gast.Name) else node

    def reversed(self, made: Any) -> Any:
        """The r of `reversed(r)`."""
        called = isinstance(made, gast.Call) and self.operations.function(made) is reversed
        return made.args[0] if called and len(made.args) == 1 else None

    def exceeds(self, high: Term, low: Term) -> bool:
        """Whether a term is surely more than another one, at one time."""
        difference = high.plus(low, -1)
        least = self.least(difference)
        return least is not None and least > 0

    def are_apart(self, one: Region, other: Region) -> bool:
        """Whether two regions, of one time, have nothing in common."""
        return any(
            (a.high is not None and b.low is not None and self.exceeds(b.low, a.high))
            or (b.high is not None and a.low is not None and self.exceeds(a.low, b.high))
            for a, b in zip(one, other)
        )


def least_of(numbers: Iterable[int | None]) -> int | None:
    """The least of some numbers, None if one of them is not known."""
    known = list(numbers)
    return None if None in known else min(known)  # type: ignore[type-var]


def backwards_of(value: Any) -> Any:
    """The r of `r[::-1]`."""
    index = value.slice if isinstance(value, gast.Subscript) else None
    if not isinstance(index, gast.Slice) or index.lower is not None or index.upper is not None:
        return None
    return value.value if constant(index.step) == -1 else None
