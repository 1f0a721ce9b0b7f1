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
from s2s.rules.callbacks import written
from s2s.transforms.classes import DEEPEST, depth, is_plain, value_of_path
from s2s.transforms.copies import assignments
from s2s.transforms.inline import inline_calls
from s2s.transforms.structure import next_number, statements
from s2s.transforms.task import Program, Task
from s2s.transforms.usercalls import is_opaque


def inline(fn: Function, task: Task) -> Function:
    """`fn` with the bodies of the user functions that it calls by name."""
    program = task.program
    start, displays = _variadic(fn, task)
    times = assignments(fn)
    kinds = {name: kind for name, kind in task.kinds.items() if not isinstance(kind, K.Static) or times[name] == 1}
    return inline_calls(
        fn, lambda call, scope: _resolve(call, scope, program), program, start, displays, kinds,
        shares=task.result is None, recorded=task.recorded,
    )  # fmt: skip


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


def _resolve(call: Any, scope: Scope, program: Program) -> Any:
    """What a call runs, if it is to be inlined."""
    value = value_of_path(call.func, scope)
    if value is MISSING and isinstance(call.func, gast.Attribute):
        value = _method(call.func, scope)
    ours = None if value is MISSING else written(value)
    if ours is not None:
        return program.callee(ours)
    if not isinstance(value, (types.FunctionType, types.MethodType)):
        return None
    if rules.find(getattr(value, "__func__", value)) is not None:
        return None
    if is_opaque(value):
        return None
    return program.callee(value)


def _method(path: Any, scope: Scope) -> Any:
    """A method of an object that is not local, looked up without running properties."""
    owner = value_of_path(path.value, scope)
    if owner is MISSING or not is_plain(owner) or path.attr in vars(owner) or depth(path) > DEEPEST:
        return MISSING
    found = inspect.getattr_static(type(owner), path.attr, None)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod) and isinstance(found.__func__, types.FunctionType):
        return types.MethodType(found.__func__, type(owner))
    return types.MethodType(found, owner) if isinstance(found, types.FunctionType) else MISSING
