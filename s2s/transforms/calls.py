"""Which calls of user functions are inlined: all whose function is known and has a source, but for NumPy's own.

Those that are not (recursion, functions that are too long) are brought into the form of `usercalls`.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2s import core, rules
from s2s import kinds as K
from s2s.core import MISSING, Function, Scope
from s2s.errors import NotCompiled
from s2s.transforms.copies import assignments
from s2s.transforms.inline import inline_calls
from s2s.transforms.methods import methods
from s2s.transforms.structure import next_number, statements
from s2s.transforms.task import Program, Task
from s2s.transforms.usercalls import OPAQUE

# Methods call methods so deep.
DEPTH = 16
# Attributes of objects are followed so deep: what a variant relies on is guarded.
DEEPEST = 3


def is_plain(value: Any) -> bool:
    """Whether a value is an instance of a user's class whose attributes are found in the usual way."""
    cls: Any = type(value)
    if cls.__module__.partition(".")[0] in OPAQUE or not hasattr(value, "__dict__") or K.of(value) is not K.UNKNOWN:
        return False
    return cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__")


def inline(fn: Function, task: Task) -> Function:
    """`fn` with the bodies of the user functions that it calls by name."""
    program = task.program
    start, displays = _variadic(fn, task)
    times = assignments(fn)
    known = {p: k.value for p, k in task.kinds.items() if isinstance(k, K.Static) and times[p] == 1}
    for _ in range(DEPTH):
        fn = inline_calls(
            fn, lambda call, scope: _resolve(call, scope, program), program.lower, start, displays, known,
            shares=task.result is None,
        )  # fmt: skip
        start, displays = [], {}
        bare = methods(fn, task)
        if bare is fn:
            return fn
        fn = bare
    raise NotCompiled("methods call each other too deeply", origin=fn.origin)


def _variadic(fn: Function, task: Task) -> tuple[list[Any], dict[str, Any]]:
    """Names for the items of tuples and variadic parameters that calls spread out: their reads, and displays."""
    passed_on = dict.fromkeys(n for s in statements(fn.body) for n in _spread_names(getattr(s, "value", None)))
    times = assignments(fn)
    start: list[Any] = []
    displays: dict[str, Any] = {}
    numbers = itertools.count(next_number(fn.local_names()))

    def item(owner: str, hint: str, key: Any) -> Any:
        name = core.temporary(hint, next(numbers))
        start.append(core.assign(name, core.subscript(owner, core.constant(key)), fn.origin))
        return core.name(name)

    for name in passed_on:
        if name in fn.local_names() and (name not in task.kinds or times[name] > 1):
            continue
        kind = task.kinds[name] if name in task.kinds else K.of(fn.scope.lookup(name))
        if isinstance(kind, K.Tuple):
            displays[name] = gast.Tuple([item(name, core.stem(name), i) for i in range(len(kind.items))], gast.Load())
        elif isinstance(kind, K.Dict) and fn.params.kwarg is not None and name == fn.params.kwarg.id:
            values = [item(name, key, key) for key, _ in kind.items]
            displays[name] = gast.Dict([core.constant(key) for key, _ in kind.items], values)
    return start, displays


def _spread_names(call: Any) -> Iterator[str]:
    """The names that a call spreads out."""
    if isinstance(call, gast.Call):
        operands = [a.value for a in call.args if isinstance(a, gast.Starred)]
        operands += [k.value for k in call.keywords if k.arg is None]
        yield from (o.id for o in operands if isinstance(o, gast.Name))


def value_of_path(node: Any, scope: Scope) -> Any:
    """The object that a path reads, through modules, classes and the attributes of plain objects; else MISSING."""
    if isinstance(node, gast.Name):
        return scope.lookup(node.id)
    owner = value_of_path(node.value, scope)
    if isinstance(owner, (types.ModuleType, type)):
        return getattr(owner, node.attr, MISSING)
    if owner is MISSING or not is_plain(owner) or hasattr(type(owner), node.attr):
        return MISSING
    return vars(owner).get(node.attr, MISSING) if _objects(node) <= DEEPEST else MISSING


def _objects(node: Any) -> int:
    """How many attributes a path reads."""
    return 1 + _objects(node.value) if isinstance(node, gast.Attribute) else 0


def _resolve(call: Any, scope: Scope, program: Program) -> Any:
    """What a call runs, if it is to be inlined."""
    value = value_of_path(call.func, scope)
    if value is MISSING and isinstance(call.func, gast.Attribute):
        value = _method(call.func, scope)
    if not isinstance(value, (types.FunctionType, types.MethodType)):
        return None
    if rules.find(getattr(value, "__func__", value)) is not None:
        return None
    module = getattr(value, "__module__", None) or ""
    if module.partition(".")[0] in OPAQUE:
        return None
    return program.callee(value)


def _method(path: Any, scope: Scope) -> Any:
    """A method of an object that is not local, looked up without running properties."""
    owner = value_of_path(path.value, scope)
    if owner is MISSING or not is_plain(owner) or path.attr in vars(owner) or _objects(path) > DEEPEST:
        return MISSING
    found = inspect.getattr_static(type(owner), path.attr, None)
    if isinstance(found, staticmethod):
        return found.__func__
    return types.MethodType(found, owner) if isinstance(found, types.FunctionType) else MISSING
