"""`sorted(...)`, and `max` and `min` by a key -> the positions of the items in order, and reads of the items.

                                        keys = [f(x) for x in items]
sorted(items, key=f)            ->      order = sorting(keys)
                                        [items[i] for i in order]

The positions carry no derivative, and the items are read as they are.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.generators import callee
from s2s.frontend.lower.lowering import Lowering
from s2s.runtime.ordering import first_largest, first_smallest, sorting

_FIRST = {max: first_largest, min: first_smallest}


def ordered(low: Lowering, function: Any, node: Any) -> Any:
    """Emit such a call, and give its value; None for other calls."""
    given = {k.arg: k.value for k in node.keywords}
    if any(isinstance(a, gast.Starred) for a in node.args) or not node.args:
        return None
    if function is sorted and len(node.args) == 1 and given.keys() <= {"key", "reverse"}:
        return _sorted(low, node.args[0], given)
    if (function is max or function is min) and given.keys() == {"key"} and not _is_none(given["key"]):
        several = gast.List(node.args, gast.Load())
        return _first(low, node.args[0] if len(node.args) == 1 else several, given["key"], _FIRST[function])
    return None


def _sorted(low: Lowering, iterable: Any, given: dict[str | None, Any]) -> Any:
    items = _listed(low, iterable)
    keys = _keys(low, items, given.get("key", core.constant(None)))
    reverse = [low.atom(given["reverse"])] if "reverse" in given else []
    low.effects += 1
    order = low.temporary("order")
    low.assign(order, gast.Call(low.bind("sorting", sorting), [keys, *reverse], []))
    item = gast.Subscript(items, core.name("i·"), gast.Load())
    over = gast.comprehension(core.name("i·", gast.Store), core.name(order), [], 0)
    return low.value(gast.ListComp(item, [over]))


def _first(low: Lowering, iterable: Any, key: Any, position: Any) -> Any:
    items = _listed(low, iterable)
    keys = _keys(low, items, key)
    low.effects += 1
    index = low.temporary("i")
    low.assign(index, gast.Call(low.bind(position.__name__, position), [keys], []))
    return gast.Subscript(items, core.name(index), gast.Load())


def _listed(low: Lowering, iterable: Any) -> Any:
    """The items, in a list of their own."""
    return low.atom(gast.Call(low.bind("list", list), [iterable], []), "items")


def _keys(low: Lowering, items: Any, key: Any) -> Any:
    if _is_none(key):
        return items
    function = callee(low, key)
    called = gast.Call(function, [core.name("item·")], [])
    over = gast.comprehension(core.name("item·", gast.Store), items, [], 0)
    return low.atom(gast.ListComp(called, [over]), "keys")


def _is_none(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
