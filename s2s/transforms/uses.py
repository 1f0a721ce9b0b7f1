"""Expressions with objects: what operators, calls, attributes and items mean where a class says it."""

from __future__ import annotations

import copy
import dataclasses
import types
from typing import Any

import gast

from s2s import core, rules
from s2s import kinds as K
from s2s.core import MISSING
from s2s.transforms import classes as C
from s2s.transforms.deques import Deques
from s2s.transforms.heap import UNSURE, Made
from s2s.transforms.references import Bound, Given, Super, type_of
from s2s.transforms.rows import Listed, Row

BINARY = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.FloorDiv: "floordiv",
    gast.Mod: "mod", gast.Pow: "pow", gast.MatMult: "matmul",
}  # fmt: skip
UNARY = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}
COMPARING = {
    gast.Eq: ("__eq__", "__eq__"), gast.NotEq: ("__ne__", "__ne__"), gast.Lt: ("__lt__", "__gt__"),
    gast.LtE: ("__le__", "__ge__"), gast.Gt: ("__gt__", "__lt__"), gast.GtE: ("__ge__", "__le__"),
}  # fmt: skip
DISPLAYS = {gast.Tuple: tuple, gast.List: list}


class Uses(Deques):
    """What takes the place of an expression."""

    def expression(self, node: Any, before: list[Any], place: Any) -> Any:
        """An expression in the place of another one, after some statements; None where it stays."""
        method = getattr(self, f"of_{type(node).__name__}", None)
        return None if method is None else method(node, before, place)

    def of_Tuple(self, node: Any, before: list[Any], place: Any) -> Any:
        if not any(self.made(e) for e in node.elts) or DISPLAYS[type(node)] in self.opaque:
            return None
        if any(isinstance(e, gast.Starred) for e in node.elts):
            raise self.escape("an object is put into a display with `*`", *map(self.made, node.elts))
        name = self.record(DISPLAYS[type(node)], {str(i): e for i, e in enumerate(node.elts)}, before)
        self.homes[id(self.state[name.id])] = (self.target, self.state[name.id])
        return name

    of_List = of_Tuple

    def of_Attribute(self, node: Any, before: list[Any], place: Any) -> Any:
        ref = self.reference(node.value)
        if ref is None:
            return None
        if self.mapping(node.value) is not None or self.view(node.value) is not None:
            raise self.escape("an attribute of a dict", ref)
        if self.queue(node.value) is not None:
            raise self.escape("an attribute of a deque", ref)
        made = ref.cell if isinstance(ref, Given) else ref
        if isinstance(ref, Row) and not isinstance(C.member(ref.cls, node.attr), property):
            cell = self.cell(ref, node.attr)
            if cell is not None:
                return cell
        if isinstance(made, Made):
            found = C.member(made.cls, node.attr)
            own = self.state.get((made, node.attr))
            if own is not None and not isinstance(found, property):
                return self.item(made, node.attr)
        attribute = self.attribute(ref, node.value, node.attr)
        cls = self.class_of(ref.receiver[0] if isinstance(ref, Super) else ref)
        hint = f"{cls.__name__}_{node.attr}"
        if attribute is None:
            if isinstance(ref, (Made, Row)):
                raise self.escape(f"`{node.attr}` is read, which may not be set", ref)
            return self.of_global(ref, node)
        if attribute.is_property:
            return self.runs(attribute, hint, [])
        if not isinstance(ref, (Made, Row)):
            return self.of_global(ref, node)
        if attribute.value is not MISSING and isinstance(cls, type):
            return core.attribute(self.host.value(cls.__name__, cls), node.attr)
        if isinstance(attribute.value, gast.Name):
            return attribute.value
        raise self.escape(f"the method `{node.attr}` of an object is used as a value", ref)

    def of_global(self, ref: Any, node: Any) -> Any:
        """An attribute of a global object, under whatever name, as a path; None for other attributes."""
        if not isinstance(ref, Bound) or core.is_path(node, self.host.local):
            return None
        return core.attribute(self.host.value(type(ref.value).__name__.lower(), ref.value), node.attr)

    def of_Call(self, node: Any, before: list[Any], place: Any) -> Any:
        if any(node is whole for whole in self.whole):
            return None
        for forms in (self.of_call_on_mapping, self.of_deque_call):
            found = forms(node, before)
            if found is not None:
                return found
        if isinstance(node.func, gast.Attribute):
            found = self.of_method(node, before)
            if found is not None:
                return found
        if isinstance(node.func, gast.Name) and (node.func.id in self.state or node.func.id in self.kinds):
            call = self.method(node.func, "__call__")
            if call is not None:
                return self.runs(call[1], f"{self.class_of(call[0]).__name__}_call", node.args, node.keywords)
            return None
        if isinstance(self.reference(node.func), Bound):
            call = self.method(node.func, "__call__")
            return None if call is None else self.runs(call[1], "call", node.args, node.keywords)
        cls = self.cls(node.func)
        if cls is not None and C.makes_records(cls) and not any(cls is c for c in self.opaque):
            return self.construct(cls, node, before)
        return self.of_function(node, before)

    def of_method(self, node: Any, before: list[Any]) -> Any:
        """`p.move(v)`."""
        owner, name = node.func.value, node.func.attr
        cls = self.cls(owner)
        if cls is not None and not core.is_path(node.func, self.host.local):
            return core.rebuilt(node, func=core.attribute(self.host.value(cls.__name__, cls), name))
        ref = self.reference(owner)
        item = self.made(node.args[0]) if name == "append" and len(node.args) == 1 else None
        if item is not None and isinstance(owner, gast.Name) and owner.id in self.host.local:
            if ref is None:
                self.discovered(owner.id, item)
            self.iterated(ref, item)
        if self.listed(owner) is not None:
            if name != "append" or len(node.args) != 1 or node.keywords:
                raise self.escape(f"`{name}` of a list of objects", ref)
            return self.append(ref, node.args[0], before)
        if ref is None:
            return None
        if isinstance(ref, Row) and self.cell(ref, name) is not None:
            held = self.host.temporary(name)
            before.append(self.new(held, node.func))
            return core.rebuilt(node, func=core.name(held))
        made = ref.cell if isinstance(ref, Given) else ref
        if isinstance(made, Made) and self.state.get((made, name)) is not None:
            return core.rebuilt(node, func=self.item(made, name))
        if isinstance(ref, Made):
            if name == "_replace" and C.is_namedtuple(ref.cls):
                return self.replaced(ref, node.keywords)
        attribute = self.attribute(ref, owner, name)
        if attribute is None:
            if isinstance(ref, K.Object) and isinstance(dict(ref.fields).get(name), K.Object):
                held = self.host.temporary(name)
                before.append(self.new(held, node.func))
                return core.rebuilt(node, func=core.name(held))
            if isinstance(ref, Super) and name == "__init__":
                return core.constant(None)
            if isinstance(ref, (Made, Row)):
                raise self.escape(f"`{name}` of an object is called, which is not known", ref)
            return None
        if attribute.is_property or attribute.value is not MISSING:
            held = self.host.temporary(name)
            before.append(self.new(held, node.func))
            return core.rebuilt(node, func=core.name(held))
        if isinstance(ref, Bound) and rules.find(attribute.function) is None:  # `inline` knows it by its path
            path = self.of_global(ref, node.func)
            return None if path is None else core.rebuilt(node, func=path)
        if isinstance(ref, Super) and name == "__init__" and C.is_generated(attribute.function):
            return self.initialised(ref, node, before)
        cls = self.class_of(ref.receiver[0] if isinstance(ref, Super) else ref)
        return self.runs(attribute, f"{cls.__name__}_{name}", node.args, node.keywords)

    def initialised(self, ref: Super, node: Any, before: list[Any]) -> Any:
        """`super().__init__(...)` of a dataclass."""
        made, atom = ref.receiver
        order = C.owners(made.cls) if isinstance(made, Made) else []
        owner = next((c for c in order[order.index(ref.after) + 1 :] if "__init__" in vars(c)), None) if order else None
        if owner is None or C.dataclass_of(owner) is not owner:
            raise self.escape("`super().__init__` that is not known", made)
        found = self.of_dataclass(owner, atom.id, node, before)
        return None if found is None else core.constant(None)

    def of_BinOp(self, node: Any, before: list[Any], place: Any) -> Any:
        left, right = self.reference(node.left), self.reference(node.right)
        if isinstance(node.op, gast.BitOr) and (self.mapping(node.left) or self.mapping(node.right)):
            return self.joined(node, before)
        stem = BINARY.get(type(node.op))
        if (left is None and right is None) or stem is None:
            return None
        if left is not None:
            call = self.calling(node.left, f"__{stem}__", node.right)
            if call is not None:
                if right is not None and self.class_of(right) is not self.class_of(left):
                    if issubclass(self.class_of(right), self.class_of(left)):
                        raise self.escape("an operator of a class and one that is derived from it", left, right)
                return call
        elif not isinstance(self.kind(node.left), (K.Int, K.Scalar, K.Bool)):
            raise self.escape("an operator between an object and what may be an array", right)
        return None if right is None else self.calling(node.right, f"__r{stem}__", node.left)

    def of_UnaryOp(self, node: Any, before: list[Any], place: Any) -> Any:
        if isinstance(node.op, gast.Not):
            known = self.kind(node.operand)
            if isinstance(known, K.Bool) and known.value is not None:
                return core.constant(not known.value)
            return None if self.made(node.operand) is None else self.negation(node.operand, before)
        return self.calling(node.operand, UNARY[type(node.op)])

    def negation(self, atom: Any, before: list[Any]) -> Any:
        truth = self.truth(atom)
        if isinstance(truth, gast.Constant):
            return core.constant(not truth.value)
        held = self.host.temporary("truth")
        before.append(self.new(held, truth))
        return gast.UnaryOp(gast.Not(), core.name(held))

    def truth(self, atom: Any) -> Any:
        """Whether an object counts as true."""
        if self.listed(atom) is not None:
            raise self.escape("the truth of a list of objects", self.made(atom))
        queue = self.queue(atom)
        if queue is not None:
            return core.call(self.host.value("bool", bool), self.items_in(queue))
        mapping = self.mapping(atom)
        if mapping is not None:
            return core.constant(bool(self.keys_at(mapping).sure or self.known_keys(mapping)))
        call = self.calling(atom, "__bool__")
        if call is None and self.method(atom, "__len__") is not None:
            raise self.escape("the length of an object as its truth", self.made(atom))
        made = self.made(atom)
        if call is None and isinstance(made.cls, type) and issubclass(made.cls, tuple | list):
            return core.constant(bool(self.keys(made)))
        return core.constant(True) if call is None else call

    def of_Compare(self, node: Any, before: list[Any], place: Any) -> Any:
        (op,), (right,) = node.ops, node.comparators
        one, other = self.made(node.left), self.made(right)
        if isinstance(op, (gast.Is, gast.IsNot)):
            refs = self.reference(node.left), self.reference(right)
            if any(isinstance(ref, Row) for ref in refs):
                return self.row_is(refs, isinstance(op, gast.Is))
            if one is None and other is None:
                return None
            return core.constant(self.same(one, other) is isinstance(op, gast.Is))
        if isinstance(op, (gast.In, gast.NotIn)):
            known = self.has_key(node)
            if known is not None:
                return known
            call = self.calling(right, "__contains__", node.left)
            if call is None or isinstance(op, gast.In):
                return call
            held = self.host.temporary("inside")
            before.append(self.new(held, call))
            return gast.UnaryOp(gast.Not(), core.name(held))
        known = self.compared(node)
        if known is not None:
            return known
        own, reflected = COMPARING[type(op)]
        call = self.calling(node.left, own, right)
        return call if call is not None or one is not None else self.calling(right, reflected, node.left)

    def row_is(self, refs: Any, positive: bool) -> Any:
        """`p is q`, where one is in a list: what is not in it is another object."""
        alike = self.same_row(*refs) if all(isinstance(ref, Row) for ref in refs) else core.constant(False)
        if isinstance(alike, gast.Constant):
            return core.constant(alike.value is positive)
        return alike if positive else core.rebuilt(alike, ops=[gast.NotEq()])

    def same(self, one: Any, other: Any) -> bool:
        """Whether two names mean one object; one of them is made in the function."""
        if one is None or other is None:
            return False
        if one is not other and any(o is other for o in self.heap.aliases(one)):
            raise self.escape("whether an object is another one", one, other)
        return one is other

    def of_Subscript(self, node: Any, before: list[Any], place: Any) -> Any:
        made = self.made(node.value)
        if self.queue(node.value) is not None:
            return core.rebuilt(node, value=self.items_in(made))
        if made is not None and made.cls is dict:
            key = self.key(made, node.slice)
            if not self.has(made, key):
                raise self.escape("a key that is not there", made)
            return self.item(made, key)
        if self.listed(node.value) is not None:
            return self.row(made, node.slice, before)
        if made is not None and isinstance(made.cls, type) and issubclass(made.cls, tuple | list):
            if not isinstance(node.slice, gast.Constant):
                self.iterated(made)
            keys = self.keys(made)
            index = getattr(node.slice, "value", None) if isinstance(node.slice, gast.Constant) else None
            if type(index) is int and -len(keys) <= index < len(keys):
                return self.item(made, keys[index])
            return None
        return self.calling(node.value, "__getitem__", node.slice)

    def iterated(self, made: Made | None, item: Made | None = None) -> None:
        """A display of objects of one class is more than taken apart: it is a list of objects, if it has a name."""
        name, _ = self.homes.get(id(made), ("", None))
        held = [self.state[made, key] for key in self.keys(made)] if name and made is not None else []
        if held and all(isinstance(h, Made) and h.cls is held[0].cls for h in held):
            self.discovered(name, held[0])

    # --- functions that look at objects ---

    def of_function(self, node: Any, before: list[Any]) -> Any:
        function = self.host.object(node.func) if isinstance(node.func, (gast.Name, gast.Attribute)) else None
        if function is isinstance and len(node.args) == 2:
            return self.is_instance(node)
        if not node.args or isinstance(node.args[0], gast.Starred):
            return None
        made = self.made(node.args[0])
        if made is None:
            dunder = "__len__" if function is len else "__abs__" if function is abs else None
            return None if dunder is None else self.calling(node.args[0], dunder)
        return self.of_made(made, function, node, before)

    def of_made(self, made: Made, function: Any, node: Any, before: list[Any]) -> Any:
        """A function of Python's that is called with an object that the function makes."""
        names = [a.value if isinstance(a, gast.Constant) else None for a in node.args[1:]]
        if made.cls is dict and function in (setattr, getattr, hasattr):
            raise self.escape("an attribute of a dict", made)
        if function is len and self.listed(node.args[0]) is not None:
            return self.length(made)
        if function is len:
            if isinstance(made.cls, type) and issubclass(made.cls, tuple | list):
                return core.constant(len(self.keys(made)))
            return self.calling(node.args[0], "__len__")
        if function is abs:
            return self.calling(node.args[0], "__abs__")
        if function is bool and len(node.args) == 1:
            truth = self.truth(node.args[0])
            return truth if isinstance(truth, gast.Constant) else None
        if function is type and len(node.args) == 1 and isinstance(made.cls, type):
            return self.host.value(made.cls.__name__, made.cls)
        if function is setattr and len(names) == 2 and isinstance(names[0], str):
            target = gast.Attribute(node.args[0], names[0], gast.Store())
            before.append(core.place(gast.Assign([target], node.args[2], None), self.origin))
            return core.constant(None)
        if function is getattr and len(names) == 1 and isinstance(names[0], str):
            return core.attribute(node.args[0], names[0])
        if function is hasattr and len(names) == 1 and isinstance(names[0], str):
            own = self.state.get((made, names[0]))
            if own is not UNSURE:
                return core.constant(own is not None or C.member(made.cls, names[0]) is not MISSING)
        if function is dataclasses.replace and len(node.args) == 1 and C.dataclass_of(made.cls) is not None:
            return self.replaced(made, node.keywords)
        if function is copy.copy and len(node.args) == 1 and made.cls in (tuple, types.SimpleNamespace):
            return self.replaced(made, [])
        return None

    def is_instance(self, node: Any) -> Any:
        """`isinstance` of what is known."""
        ref = self.reference(node.args[0])
        if isinstance(ref, (Made, Row)):
            cls: Any = list if isinstance(ref.cls, Listed) else ref.cls
        else:
            kind = self.kind(node.args[0])
            cls = type_of(kind)
        if cls is None:
            return None
        asked = self.host.objects_in(node.args[1])
        if not asked or not all(isinstance(one, (type, C.LocalClass)) for one in asked):
            return None
        if isinstance(cls, C.LocalClass):
            return core.constant(any(one in (cls, object) for one in asked))
        return core.constant(any(isinstance(one, type) and issubclass(cls, one) for one in asked))
