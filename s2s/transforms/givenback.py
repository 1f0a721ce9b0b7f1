"""Calls that stay of functions that write into their arguments: what is written is given back, and stored.

    y = f(a, n)             given_back = f(a, n)        # f works on a copy of a, and returns (result, the copy)
                            y = given_back[0]
                            a2 = given_back[1]
                            a[...] = a2

So a pair is a function of values, as any other, and the write into `a` is a write as any other: whoever holds a view of
it sees it, and it is saved and undone as the caller needs. It costs two copies of the array in each call. A copy
shares no memory with anything, so that a function is refused which returns what may share memory with what it has
written into, and a call by which another argument may.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.errors import NotCompiled
from s2s.runtime import stores as S
from s2s.runtime.stores import private
from s2s.transforms.aliases import Aliases
from s2s.transforms.operations import Operations
from s2s.transforms.structure import next_number, statements
from s2s.transforms.usercalls import Callee, callees, stand_ins, user_callee

if TYPE_CHECKING:
    from s2s.transforms.mutation import Mutation

_REFUSED = "`{}` writes into its argument `{}`{}, and is too long to be inlined, or calls itself"

# --- the caller -------------------------------------------------------------------------------------------------


class Given:
    """A call that stays, in the pass `mutation`."""

    def __init__(self, run: Mutation, user: Callee, call: Any, origin: Any) -> None:
        self.run = run
        self.user = user
        self.call = call
        self.origin = origin

    def stored(self, function: types.FunctionType) -> tuple[list[Any], Any] | None:
        """The statements that the call stands for, and its result; None for a call that writes into nothing.

        function: what is called, by the name in the program.
        """
        run, user, origin = self.run, self.user, self.origin
        if user.gives_back:
            return None
        written = run.program.written(user, [run.kind(a) for a in self.call.args])
        if not written:
            return None
        arguments = dict(zip(user.params, self.call.args))
        for param in written:
            if not isinstance(run.kind_of(arguments[param]), K.Array):
                raise NotCompiled(_REFUSED.format(user.name, param, ""), origin=origin)
        new: list[Any] = []
        called = core.name(run.namer.bind(user.name, giving_back(function, user, written)))
        made = run.held(core.rebuilt(self.call, func=called), new, "given_back", origin)
        result = run.held(core.subscript(made, core.constant(0)), new, "result", origin)
        for number, param in enumerate(written, start=1):
            content = run.held(core.subscript(made, core.constant(number)), new, param, origin)
            new.append(run.store(S.set_item, arguments[param], core.constant(Ellipsis), content, origin=origin))
        return new, result


def refuse_shared(fn: Function, aliases: Aliases) -> None:
    """Refuse to give back copies of memory that another argument of the call may share."""
    for stmt in statements(fn.body):
        user = called_so(stmt, aliases.operations)
        if user is None:
            continue
        arguments = [(p, a) for p, a in zip(user.params, stmt.value.args) if isinstance(a, gast.Name)]
        for (param, given), (other, node) in itertools.permutations(arguments, 2):
            if param in user.gives_back and aliases.share(stmt.value, given.id, node.id):
                shared = f", whose memory `{other}` may share"
                raise NotCompiled(_REFUSED.format(user.name, param, shared), origin=core.origin_of(stmt))


def called_so(stmt: Any, operations: Operations) -> Callee | None:
    """The function that a statement calls, if that gives back what it writes into."""
    call = stmt.value if isinstance(stmt, gast.Assign) else None
    user = user_callee(operations.function(call), call) if isinstance(call, gast.Call) else None
    return user if user is not None and user.gives_back else None


def giving_back(target: types.FunctionType, callee: Callee, written: Sequence[str]) -> types.FunctionType:
    """The stand-in for `target`, which is called as `callee` says, that gives back what it writes into."""
    key = (target, tuple(written), True)
    stand_in = stand_ins.get(key)
    if stand_in is None:
        places = [callee.params.index(name) for name in written]

        def call(*values: Any) -> Any:
            given = list(values)
            for place in places:
                given[place] = private(given[place])
            return (target(*given), *(given[place] for place in places))

        call.__name__ = call.__qualname__ = callee.name
        assert isinstance(call, types.FunctionType)
        stand_in = stand_ins[key] = call
        callees[stand_in] = replace(callee, gives_back=tuple(written))
    return stand_in


# --- the function that is called --------------------------------------------------------------------------------


def with_written(fn: Function, params: Sequence[str]) -> Function:
    """A function that returns, after its result, what its arguments hold in the end."""
    if not params:
        return fn
    number = next_number(fn.local_names())
    held = {param: core.temporary(param, number + i) for i, param in enumerate(params)}
    whole = core.temporary("result", number + len(held))
    *body, last = fn.body
    start = [core.assign(name, core.name(param), fn.origin) for param, name in held.items()]
    given_back = gast.Tuple([last.value, *map(core.name, held.values())], gast.Load())
    origin = core.origin_of(last)
    returned = core.place(gast.Return(core.name(whole)), origin)
    return fn.with_body([*start, *body, core.assign(whole, given_back, origin), returned])


def refuse_to_give_back(fn: Function, written: Sequence[str], name: str) -> None:
    """Refuse a function whose result may share memory with an argument that it writes into: copies would not.

    fn: what `with_written` has made of it, with kinds.
    """
    whole = fn.body[-1].value.id
    aliases = Aliases(fn, Operations(fn))
    (made,) = (s.value for s in statements(fn.body) if core.writes(s) == [whole])
    result, *held = made.elts
    for param, node in zip(written, held):
        if isinstance(result, gast.Name) and aliases.share(made, result.id, node.id):
            shared = ", returns what may share memory with it"
            raise NotCompiled(_REFUSED.format(name, param, shared), origin=fn.origin)
