"""The order of evaluation: operands that have their value while later ones are still being lowered.

Core evaluates the operands of an operation together, after the statements that later operands need. Where that could
make a difference, an earlier operand is stored under a name, at the place where Python evaluates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.emitter import Block, Emitter
from s2s.frontend.lower.names import Names


@dataclass(slots=True)
class Held:
    """An operand that is evaluated, while later ones are yet to be lowered: see `Lowering.hold`."""

    node: Any
    volatile: bool
    unsure: bool
    block: Block
    position: int
    rebound: int
    effects: int


class OrderedEmitter(Emitter):
    """An emitter that knows what may change an operand.

    rebound: the names that assignment expressions have bound, in order.
    effects: how many calls were lowered that may have effects.
    shared: the variables that calls may rebind.
    """

    def __init__(self, names: Names, origin: core.Origin) -> None:
        super().__init__(origin)
        self.names = names
        self.rebound: list[str] = []
        self.effects = 0
        self.shared = names.shared

    def hold(self, node: Any, *, volatile: bool | None = None) -> Held:
        """Note that an operand has its value now.

        Core evaluates the operands of an operation together, after what later operands need. Where that could make a
        difference, `settle` stores the operand under a name at the place that is noted here: a name that an
        assignment expression rebinds or that may be unbound; a global or shared name (`volatile`) that a call may
        rebind; what `*` and `**` unpack.
        """
        names = _names(node)
        if volatile is None:
            volatile = not core.is_atom(node) and not (isinstance(node, gast.keyword) and node.arg)
            volatile = volatile or not all(map(self.names.is_local, names))
        volatile = volatile or not self.shared.isdisjoint(names)
        unsure = not all(map(self.is_certain, names))
        return Held(node, volatile, unsure, self.block, len(self.block.statements), len(self.rebound), self.effects)

    def is_certain(self, name: str) -> bool:
        """Whether reading a name cannot fail here."""
        if self.names.is_local(name):
            return core.is_temporary(name) or (self.is_bound(name) and name not in self.names.deleted)
        return self.names.scope.lookup(name) is not core.MISSING

    def settle(self, held: Held) -> Any:
        """The operand, for use after what was emitted since."""
        rebound = self.rebound[held.rebound :]
        changed = held.volatile and self.effects > held.effects
        changed = changed or (held.unsure and len(held.block.statements) > held.position)
        changed = changed or (bool(rebound) and any(name in rebound for name in _names(held.node)))
        if not changed:
            return held.node
        name = self.temporary("t")
        frozen, operand = _freeze(held.node, core.name(name))
        held.block.statements.insert(held.position, core.assign(name, frozen, self.origin))
        return operand

    def settle_all(self, held: list[Held]) -> list[Any]:
        """As `settle`, for operands in order. Places are noted as positions in a block: the last goes first."""
        return [self.settle(one) for one in reversed(held)][::-1]


def _names(node: Any) -> list[str]:
    if core.is_atom(node):
        return [node.id] if isinstance(node, gast.Name) else []
    return [n.id for n in core.nodes_in(node) if type(n) is gast.Name]


def _freeze(node: Any, name: Any) -> tuple[Any, Any]:
    """The expression that fixes an operand, and the operand that takes its place."""
    if isinstance(node, gast.Starred):
        return gast.Tuple([node], gast.Load()), gast.Starred(name, gast.Load())
    if isinstance(node, gast.FormattedValue):
        return gast.JoinedStr([node]), gast.FormattedValue(name, -1, None)
    if isinstance(node, gast.keyword):
        return (node.value if node.arg else gast.Dict([None], [node.value])), gast.keyword(node.arg, name)
    return node, name
