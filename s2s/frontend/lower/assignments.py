"""Assignments: one target at a time, tuples flat; what is in place stays in place.

(p, q), a[i] = x        ->      (item, item2) = x;  (p, q) = item;  a[i] = item2
a[i] += f(x)            ->      t = f(x);  a[i] += t
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.access import place, place_operands
from s2s.frontend.lower.generators import keep
from s2s.frontend.lower.lowering import Lowering, lowers


@lowers(gast.Assign)
def assignment(low: Lowering, node: Any) -> None:
    first, *others = [_place_of(low, target) for target in node.targets]
    if others:
        value = low.atom(node.value)
        if isinstance(value, gast.Name) and not core.is_temporary(value.id):
            name = low.temporary("t")
            low.assign(name, value)
            value = core.name(name)
        for target in (first, *others):
            assign_to(low, target, value)
    elif isinstance(first, gast.Name):
        if keep(low, first, node.value):
            return
        low.store(low.target_name(first.id), node.value)
    else:
        assign_to(low, first, low.value(node.value))


def _place_of(low: Lowering, target: Any) -> Any:
    """A target; a number that the function declares `global` is an attribute of the module."""
    if not isinstance(target, gast.Name) or core.is_temporary(target.id) or target.id in low.renamed:
        return target
    name = low.names.mangle(target.id)
    if low.names.is_local(name) or name in low.names.scope.cells:
        return target
    space: Any = low.names.scope.globals
    module = sys.modules.get(space.get("__name__", ""))
    if module is None or vars(module) is not space or type(space.get(name)) not in (int, float):
        return target
    return gast.Attribute(low.bind(module.__name__.rpartition(".")[2], module), name, gast.Store())


@lowers(gast.AnnAssign)
def annotated(low: Lowering, node: Any) -> None:
    if node.value is not None:
        assignment(low, gast.Assign([node.target], node.value, None))
    elif not isinstance(node.target, gast.Name):
        low.operands(place_operands(node.target))


@lowers(gast.NamedExpr)
def named(low: Lowering, node: Any) -> Any:
    name = low.target_name(node.target.id)
    low.store(name, node.value)
    low.rebound.append(name)
    return core.name(name)


def assign_to(low: Lowering, target: Any, value: Any) -> None:
    """Assign a Core expression to any target."""
    if isinstance(target, gast.Name):
        low.assign(low.target_name(target.id), value)
    elif isinstance(target, (gast.Tuple, gast.List)):
        _unpack(low, target.elts, value)
    else:
        held = low.hold(low.as_atom(value))
        operands = low.operands(place_operands(target))
        low.emit(gast.Assign([place(low, target, operands, gast.Store)], low.settle(held), None))


def _unpack(low: Lowering, targets: list[Any], value: Any) -> None:
    """Unpack into names, and these into the targets that are none.

    Python assigns from left to right. A name is bound at once, unless its value could be seen too early: by a place
    to its left, or because another target has the same name.
    """
    stored = [name for target in targets for name in _stored(low, target)]
    direct = len(set(stored)) == len(stored)
    elements: list[Any] = []
    later: list[tuple[Any, str]] = []
    for target in targets:
        inner = target.value if isinstance(target, gast.Starred) else target
        if direct and isinstance(inner, gast.Name):
            name = low.target_name(inner.id)
        else:
            name = low.temporary("item")
            later.append((inner, name))
            direct = direct and _has_names_only(inner)
        low.block.bound.add(name)
        element = core.name(name, gast.Store)
        elements.append(element if inner is target else gast.Starred(element, gast.Store()))
    low.emit(gast.Assign([gast.Tuple(elements, gast.Store())], value, None))
    for inner, name in later:
        assign_to(low, inner, core.name(name))


def _has_names_only(target: Any) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(_has_names_only, target.elts))
    return isinstance(target.value if isinstance(target, gast.Starred) else target, gast.Name)


def _stored(low: Lowering, target: Any) -> Iterator[str]:
    """The names that a target binds."""
    for node in gast.walk(target):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
            yield low.target_name(node.id)


@lowers(gast.AugAssign)
def augmented(low: Lowering, node: Any) -> None:
    """Python reads the old value first: it is held under a name where a call on the way may change it.

    Else the place stays in place, and if both its read and the value fail, it is the value's error that is raised.
    """
    outer = _place_of(low, node.target)
    if outer is not node.target:
        renewed = gast.BinOp(core.name(outer.attr), node.op, node.value)
        assign_to(low, outer, low.value(renewed))
        return
    if isinstance(node.target, gast.Name):
        low.target_name(node.target.id)
        read = low.load(node.target)
        held = []
    else:
        held = [low.hold(low.operand(operand)) for operand in place_operands(node.target)]
        read = place(low, node.target, [one.node for one in held], gast.Load)
    old = low.hold(read)
    value = low.atom(node.value)
    before = low.settle(old)
    operands = low.settle_all(held)
    target = place(low, node.target, operands, gast.Store) if held else core.name(read.id, gast.Store)
    if before is read:
        low.emit(gast.AugAssign(target, node.op, value))
        return
    low.emit(gast.AugAssign(core.name(before.id, gast.Store), node.op, value))
    low.emit(gast.Assign([target], before, None))


@lowers(gast.Delete)
def deletion(low: Lowering, node: Any) -> None:
    for target in node.targets:
        if isinstance(target, (gast.Tuple, gast.List)):
            deletion(low, gast.Delete(target.elts))
        elif isinstance(target, gast.Name):
            low.emit(gast.Delete([core.name(low.target_name(target.id), gast.Del)]))
        else:
            low.emit(gast.Delete([place(low, target, low.operands(place_operands(target)), gast.Del)]))
