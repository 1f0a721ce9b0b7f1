"""What a call does with the memory of its arguments, and what else it does besides giving a result.

The facts stand in the table of `known`. Of a function that is not there, and has no rule, nothing is known.
"""

from __future__ import annotations

import functools
import operator
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from s2s import kinds as K
from s2s import rules
from s2s.kinds import Kind
from s2s.runtime import stores
from s2s.runtime.numeric import scatter_add
from s2s.transforms import known

T = TypeVar("T")


@dataclass(frozen=True)
class Conduct:
    """What a call does with its arguments, which stand here as they were given.

    writes: those that it writes into; of a tuple or list of outputs, into the items.
    shares: those whose memory the result may share, or that it may be, or of which it may hold items.
    view: the array of which the result surely is a view, or which it surely is; None if there is no such one.
    keeps: those that what is written into may hold from now on, or of which it may hold items.
    calls: those that may be functions that it calls, or iterators that it steps.
    outer: whether it does what the world sees: prints, draws random numbers, changes a setting.
    """

    writes: tuple[Any, ...] = ()
    shares: tuple[Any, ...] = ()
    view: Any = None
    keeps: tuple[Any, ...] = ()
    calls: tuple[Any, ...] = ()
    outer: bool = False

    @property
    def only_reads(self) -> bool:
        """Whether it does nothing but give a result, or raise."""
        return not (self.writes or self.calls or self.outer)


_NOTHING, _OUTER = Conduct(), Conduct(outer=True)


def conduct(
    function: Any, operands: Sequence[T], keywords: Mapping[str, T], kind: Callable[[T], Kind]
) -> Conduct | None:
    """What a call does; None where it may do anything. A method's owner is the first operand.

    >>> kinds = {"x": K.of(np.zeros(3)), "n": K.Int()}
    >>> conduct(np.copyto, ["x", "n"], {}, kinds.get).writes
    ('x',)
    >>> conduct(operator.getitem, ["x", "n"], {}, kinds.get).shares
    ()
    """
    row = row_of(function)
    if row is None:
        return None
    bound = list(row.bind(operands, keywords))
    if not any(marks for marks, _ in bound):
        return _OUTER if row.outer else _NOTHING
    given = [Given(marks, operand, kind(operand)) for marks, operand in bound]
    if row.idle(operands, keywords, kind):
        given = [g._replace(marks="") if "?" in g.marks else g for g in given]
    refine = _REFINED.get(function)
    if refine is not None:
        given = refine(given)
    shares = [g for g in given if ("=" in g.marks or "~" in g.marks) and has_memory(g.kind)]
    sure = len(shares) == 1 and "=" in shares[0].marks and K.ndim_of(shares[0].kind) not in (None, 0)
    return Conduct(
        writes=tuple([g.operand for g in given if "!" in g.marks and not K.immutable(g.kind)]),
        shares=tuple([g.operand for g in shares]),
        view=shares[0].operand if sure else None,
        keeps=tuple([g.operand for g in given if "+" in g.marks and has_memory(g.kind)]),
        calls=tuple([g.operand for g in given if "(" in g.marks and not K.immutable(g.kind)]),
        outer=row.outer,
    )


class Given(NamedTuple):
    """An argument of a call, with the marks of its parameter."""

    marks: str
    operand: Any
    kind: Kind


def has_memory(kind: Kind) -> bool:
    """Whether a value may be written into, or hold what may be: a shape may not."""
    if isinstance(kind, K.Tuple):
        return any(map(has_memory, kind.items))
    return not (K.immutable(kind) or isinstance(kind, (K.Static, K.Slice, K.Range)))


# --- rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What the table says of a function.

    positional: the marks of the leading positional parameters; `rest`: of all further positional arguments.
    named: the marks of parameters by name; `other`: of all further keywords.
    switch: a parameter, its position, and its default; see `SWITCHES`.
    """

    positional: tuple[str, ...] = ()
    rest: str = ""
    other: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    switch: tuple[str, int, bool | None] | None = None
    outer: bool = False

    def bind(self, operands: Sequence[T], keywords: Mapping[str, T]) -> Iterator[tuple[str, T]]:
        """The arguments of a call, each with the marks of its parameter."""
        for position, operand in enumerate(operands):
            yield self.positional[position] if position < len(self.positional) else self.rest, operand
        for name, operand in keywords.items():
            yield self.named.get(name, _OUT if name == "out" else self.other), operand

    def idle(self, operands: Sequence[T], keywords: Mapping[str, T], kind: Callable[[T], Kind]) -> bool:
        """Whether the switch surely has the value at which the function leaves its arguments alone."""
        if self.switch is None:
            return False
        name, position, value = self.switch
        given = [operands[position]] if position < min(len(operands), len(self.positional)) else []
        given += [keywords[name]] if name in keywords else []
        for operand in given:
            found = kind(operand)
            value = found.value if isinstance(found, K.Bool) else None
        return value is SWITCHES[name]


SWITCHES = {"copy": True, "overwrite_input": False, "inplace": False}
_OUT = "!="
_DEFAULTS = {"True": True, "False": False, "None": None}
_PARAMETER = re.compile(r"(\*?)(\w+)([!=~+?()]*?)(?:=(True|False|None))?$")


def parsed(text: str) -> Row:
    """A row from its text.

    >>> parsed("a! q out").positional
    ('!', '', '!=')
    """
    positional: list[str] = []
    named: dict[str, str] = {}
    rest: str | None = None
    switch = None
    for word in text.split():
        star, name, marks, default = _PARAMETER.match(word).groups()  # type: ignore[union-attr]
        if star:
            rest = marks
            continue
        if default:
            switch = name, len(positional), _DEFAULTS[default]
        named[name] = _OUT if name == "out" and not marks else marks
        if rest is None:
            positional.append(named[name])
    return Row(tuple(positional), rest or "", "", named, switch)


@functools.cache
def table() -> dict[Any, Row]:
    """The rows by function."""
    rows: dict[Any, Row] = {}
    for text, owner, names in known.ROWS:
        row = parsed(text)
        rows.update((getattr(owner, name), row) for name in names.split())
    return {**rows, **{f: replace(rows.get(f, Row()), outer=True) for f in known.OUTER}}


def row_of(function: Any) -> Row | None:
    """What is known of a function."""
    try:
        row = table().get(function)
    except TypeError:  # unhashable
        return None
    if row is not None:
        return row
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        text = known.OF_UFUNCS.get(function.__name__)
        return None if text is None or _of_objects(owner) else parsed(text)
    if isinstance(function, np.ufunc):
        return None if _of_objects(function) else _elementwise(function.nin)
    if draws(function):
        bound = owner is not None and not isinstance(owner, types.ModuleType)
        text = known.DRAWING.get(getattr(function, "__name__", ""), "")
        return replace(parsed(text if bound else f"self {text}"), outer=True)
    if module_of(function) in ("math", "cmath") or _makes_numbers(function):
        return Row()
    if in_numpy(function) or of_ours(function):
        return Row(rest="~", other="~")
    return _from_rule(function)


@functools.cache
def _elementwise(operands: int) -> Row:
    """The row of a ufunc of so many operands."""
    return Row(("",) * operands, rest=_OUT)


def _of_objects(ufunc: np.ufunc) -> bool:
    """Whether a ufunc calls a function of the user's (`np.frompyfunc`)."""
    return all(set(signature) <= set("O->") for signature in ufunc.types)


def _makes_numbers(function: Any) -> bool:
    """Whether a function is a type of numbers, or a method of one, or of str."""
    if isinstance(function, type):
        return issubclass(function, (np.generic, np.dtype))
    return getattr(function, "__objclass__", None) in (int, float, complex, bool, str, bytes, range)


def in_numpy(function: Any) -> bool:
    """Whether a function is one of NumPy's that arrays may overload, or a method of its arrays."""
    return type(function).__name__ == "_ArrayFunctionDispatcher" or is_array_method(function)


def _from_rule(function: Any) -> Row | None:
    """What the rule of a function of the user's says: where it is silent, the result may be any argument."""
    rule = rules.find(function)
    if rule is None:
        return None
    shares = rule.view or tuple(rule.signature.parameters)
    named = {p: "!" * (p in rule.mutates) + "~" * (p in shares) for p in rule.signature.parameters}
    return Row(tuple(named.values()), rest="~", other="~", named=named)


def followed(function: Any) -> bool:
    """Whether a function surely only gives a result, the kind of which is found by calling the function on samples."""
    if function in known.PURE or isinstance(function, np.ufunc) or ours(function) or draws(function):
        return True
    if getattr(function, "__objclass__", None) in (str, float, int, complex):
        return True
    row = row_of(function) if in_numpy(function) and not function.__name__.startswith("_") else None
    return (
        row is not None
        and not row.outer
        and not any(set(marks) & set("!(") and "?" not in marks for name, marks in row.named.items() if name != "out")
    )


def draws(function: Any) -> bool:
    """Whether a function makes random numbers, or a generator of them."""
    return module_of(function).startswith("numpy.random")


def module_of(function: Any) -> str:
    """The name of the module that a function says it comes from; empty if it says nothing."""
    module = getattr(function, "__module__", None)
    return module if isinstance(module, str) else ""


def is_array_method(function: Any) -> bool:
    """Whether a function is a method or attribute of NumPy's arrays."""
    return getattr(function, "__objclass__", None) is np.ndarray


def of_ours(function: Any) -> bool:
    """Whether a function is one of ours that compiled code calls."""
    return module_of(function).startswith(("s2s.runtime", "s2s.rules"))


def ours(function: Any) -> bool:
    """Whether a function is a helper of our rules that computes, and writes into nothing that it is given."""
    return module_of(function).startswith(_COMPUTING) and function is not scatter_add


_COMPUTING = ("s2s.rules.", "s2s.runtime.numeric", "s2s.runtime.special", "s2s.runtime.recurrence")


# --- what depends on kinds --------------------------------------------------------------------------------------


def _without(given: Given, marks: str) -> Given:
    return given._replace(marks="".join(m for m in given.marks if m not in marks))


def _item(given: list[Given]) -> list[Given]:
    """An item of an array: a view by slices and integers, a copy by arrays and masks. A part of a list is a new one."""
    owner, index = given
    held = K.children(owner.kind) if isinstance(owner.kind, (K.List, K.Sequence)) else None
    if held and isinstance(index.kind, K.Slice) and not any(map(has_memory, held)):
        return [_without(owner, "~"), index]
    if not isinstance(owner.kind, K.Array):
        return given
    parts = index.kind.items if isinstance(index.kind, K.Tuple) else (index.kind,)
    if any(_selects(part) for part in parts):
        return [_without(owner, "~"), index]
    integers = sum(_is_integer(p) for p in parts)
    if all(_is_integer(p) or isinstance(p, (K.Slice, K.NoneKind)) or _is_ellipsis(p) for p in parts):
        element = integers == len(parts) == owner.kind.ndim
        return [_without(owner, "~") if element else owner._replace(marks="="), index]
    return given


def _is_integer(kind: Kind) -> bool:
    return isinstance(kind, K.Int) or (isinstance(kind, K.Scalar) and kind.dtype.kind in "iu")


def _selects(kind: Kind) -> bool:
    """Whether an index surely makes a copy: an array of integers or a mask, or a list of them."""
    if isinstance(kind, (K.List, K.Bool)) or (isinstance(kind, K.Sequence) and kind.cls is list):
        return True
    return (isinstance(kind, K.Array) and kind.ndim > 0) or (isinstance(kind, K.Scalar) and kind.dtype.kind == "b")


def _is_ellipsis(kind: Kind) -> bool:
    return isinstance(kind, K.Static) and kind.value is Ellipsis


def _is_container(kind: Kind) -> bool:
    return isinstance(kind, (K.Unknown, K.Object)) or K.children(kind) is not None


def _joined(given: list[Given]) -> list[Given]:
    """An operator that joins lists or tuples keeps their items; one on numbers and arrays gives a new result."""
    return given if any(_is_container(g.kind) for g in given) else [_without(g, "~") for g in given]


def _augmented(given: list[Given]) -> list[Given]:
    """`a += b`: a list comes to hold the items of b, an array does not."""
    left, *others = given
    if not _is_container(left.kind):
        return [left, *(_without(g, "+~") for g in others)]
    return given


def _stored(given: list[Given]) -> list[Given]:
    """`a[i] = v`: an array takes the values of v, not v."""
    return [_without(g, "+") for g in given] if isinstance(given[0].kind, K.Array) else given


def _contracted(given: list[Given]) -> list[Given]:
    """`einsum` gives views of single operands only."""
    several = isinstance(given[0].kind, K.Str) and sum("~" in g.marks for g in given) > 2
    return [_without(g, "~") for g in given] if several else given


_REFINED: dict[Any, Callable[[list[Given]], list[Given]]] = {
    operator.getitem: _item,
    operator.setitem: _stored,
    stores.set_item: _stored,
    np.einsum: _contracted,
    **dict.fromkeys((operator.add, operator.mul, operator.concat), _joined),
    **dict.fromkeys(
        (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
         operator.ipow, operator.imatmul, operator.iand, operator.ior, operator.ixor, operator.ilshift,
         operator.irshift),
        _augmented,
    ),
}  # fmt: skip
