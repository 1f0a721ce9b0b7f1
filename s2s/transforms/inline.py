"""Inlining: a call of a user function -> the body of the function, its locals under names of their own.

    y = g(a, k=b)       v··7 = a
                        k··8 = b
                        t··9 = v··7 * k··8
                        y = t··9

Every parameter and local of the callee gets a fresh name in the caller, which keeps its stem; copies are left to later
passes. Free names keep their meaning (`foreign.py`), statements keep their origins. The work is done outside in, so
that the calls in an inlined body are looked at in their turn, where it is known which functions they stand in.

It stands between lowering and `versions`, and gives lowered Core again. A call is left as it is where its arguments do
not fit: Python shall say so. It stays a call, in the form of `usercalls`, where the callee calls itself or is too long,
and, in a loop, where it may read a variable that it has deleted.

Functions that are passed as arguments are known too: `integrate(rhs, y)` is inlined with the calls of `rhs` in it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function, Scope
from s2s.errors import NotCompiled
from s2s.kinds import Kind
from s2s.runtime.absent import absent
from s2s.transforms import recursive
from s2s.transforms.anew import Reads, is_closure, made_anew, part
from s2s.transforms.bound import bound_after, may_be_unbound, may_read_deleted
from s2s.transforms.classes import LocalClass, is_plain, value_of_path
from s2s.transforms.derivatives import Derivatives, LocalDerivative
from s2s.transforms.foreign import Importer, LiveReads
from s2s.transforms.heap import Escapes
from s2s.transforms.mappings import Site, Tracking, left_alone
from s2s.transforms.objects import Objects
from s2s.transforms.parameters import bind_arguments, defaults_of
from s2s.transforms.rows import Listed, Listing
from s2s.transforms.spread import Displays
from s2s.transforms.structure import blocks, defs, statements, uses, with_blocks
from s2s.transforms.tables import Tables
from s2s.transforms.task import Callee, Program
from s2s.transforms.usercalls import by_record, in_form

# Of statements, with those of what a function calls in turn: longer ones stay calls. Functions that call each other
# twice at every level grow without bounds.
LONG = 300
# Nested functions call functions that call them, so deep.
DEEPEST = 40
# Of statements that inlining may add to one function.
LIMIT = 2_000
# Of lists of objects in one function.
LISTS = 20


# Bound arguments of these types are written as constants.
_LITERALS = (int, bool, str, type(None))


Resolve = Callable[[Any, Scope], Callee | None]
Lower = Callable[[FunctionType], Function]


class Recursion(Exception):
    """A function, or a nested one by its place, is met in its own body: its calls are to stay."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.function = function


def inline_calls(
    fn: Function,
    resolve: Resolve,
    program: Program,
    start: Sequence[Any] = (),
    displays: Mapping[str, Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    shares: bool = True,
    recorded: Set[CodeType] = frozenset(),
) -> Function:
    """`fn` with calls replaced by the bodies of the functions called.

    resolve: the callee of a Call node in a scope, or None where the call is to stay. It is asked only about names that
        are not local.
    program: what is known of other functions.
    start: statements to begin with, which assign names.
    displays: what variadic parameters hold, as displays of these names; see `spread.py`.
    kinds: what is known of the parameters.
    shares: whether functions made anew that have a cell of `fn`'s own always do.
    recorded: functions that are not compiled, a call of which is recorded by itself.

    Raises NotCompiled for `*a` and `**k` in a call that is to be inlined, and for what cannot be lowered.
    """
    opaque: list[Any] = []
    listings: dict[str, Listed] = {}
    recursions: set[Any] = set()
    lower = functools.cache(program.lower)
    whole, tracks = fn.with_body((*start, *fn.body)), False
    while True:
        run = _Inliner(whole, resolve, program, lower, Displays(displays or {}), kinds or {}, opaque, listings, shares)
        run.recorded = recorded
        run.recursive = recursions
        run.objects.tracks = tracks
        try:
            return run.run([*start, *run.objects.take_arguments_apart(kinds or {})], fn.body)
        except Recursion as found:
            recursions.add(found.function)
            listings = {}
        except Tracking:
            tracks, listings = True, {}
        except Listing as found:
            listings[found.name] = found.listed
            if len(listings) > LISTS:
                opaque.append(found.listed.cls)
                listings = {}
        except Escapes as escape:
            listings = {}
            more = [c for c in escape.classes or run.objects.seen if not any(c is known for known in opaque)]
            more = left_alone([c for c in more if isinstance(c, Site)], opaque) or more
            if not more or any(isinstance(c, LocalClass) for c in more):
                raise NotCompiled(escape.reason, origin=escape.origin) from None
            opaque += more


@dataclass(frozen=True)
class _Place:
    """Where a statement stands: in the bodies of these functions (of nested ones, the bodies themselves), in a loop."""

    functions: tuple[Any, ...] = ()
    in_loop: bool = False

    @property
    def nearest(self) -> tuple[Any, ...]:
        """The functions in whose bodies it stands as they are written: those outside of a nested one only called it."""
        nested = [i for i, f in enumerate(self.functions) if not isinstance(f, FunctionType)]
        return self.functions[nested[-1] + 1 :] if nested else self.functions


class _Inliner:
    def __init__(
        self,
        fn: Function,
        resolve: Resolve,
        program: Program,
        lower: Lower,
        displays: Displays,
        kinds: Mapping[str, Kind],
        opaque: Sequence[Any],
        listings: Mapping[str, Listed],
        shares: bool,
    ) -> None:
        self.fn = fn
        self.shares = shares
        self.recorded: Set[CodeType] = frozenset()
        self.recursive: Set[Any] = frozenset()
        self.displays = displays
        self.constants: dict[str, Any] = {}  # parameters of inlined functions that are numbers or texts for good
        self.known = {name: kind.value for name, kind in kinds.items() if isinstance(kind, K.Static)}
        self.sizes: dict[FunctionType, int] = {}
        self.resolve = resolve
        self.lower = lower
        self.local = fn.local_names()
        unresolved = {n for n in core.reads(fn.body) - self.local if fn.scope.lookup(n) is core.MISSING}
        self.importer = Importer(fn.scope, self.local | unresolved)
        self.numbers = itertools.count(_last_number(self.local) + 1)
        self.variables: dict[str, str] = {}  # of attributes, by hint
        self.added = 0
        self.program = program
        self.objects = Objects(self, kinds, opaque, listings)
        self.tables = Tables(self)
        self.derivatives: Derivatives = Derivatives(self)

    def run(self, start: list[Any], body: Iterable[Any]) -> Function:
        new = self.block(body, _Place())
        new = without_closures([*start, *new], self.tables.iterators)
        self.derivatives.check_left(new)
        self.objects.check_left(new)
        self.objects.check_outside(new, is_called=not self.shares)
        inlined = replace(self.fn, body=tuple(new), scope=self.importer.scope)
        return inlined.with_facts(bound=frozenset(self.objects.by_name))

    def temporary(self, hint: str) -> str:
        name = core.temporary(hint, next(self.numbers))
        self.local.add(name)
        return name

    def fresh(self, hint: str) -> str:
        """A new name; those of one hint are versions of a variable that the program does not have."""
        if hint not in self.variables:
            taken, scope = self.local | self.importer.taken, self.importer.scope
            self.variables[hint] = core.unique(hint, lambda n: n in taken or scope.lookup(n) is not core.MISSING)
        name = core.version(self.variables[hint], next(self.numbers) + 1)
        self.local |= {name, self.variables[hint]}
        self.importer.taken |= {name, self.variables[hint]}
        return name

    def block(self, stmts: Iterable[Any], place: _Place) -> list[Any]:
        """A block of its own: what becomes known in it is not known after it."""
        outer, self.displays = self.displays, self.displays.copy()
        known, self.known = self.known, dict(self.known)
        tables = self.tables.state()
        new = self.straight(stmts, place)
        self.displays, self.known = outer, known
        self.tables.restore(tables)
        return new

    def straight(self, stmts: Iterable[Any], place: _Place) -> list[Any]:
        new: list[Any] = []
        for stmt in (single for whole in stmts for single in self.taken_apart(whole)):
            stmt = self.displays.before(stmt)
            derivative = self.derivatives.statement(stmt)
            if derivative is not None:
                new.extend(derivative)
                continue
            changed = self.objects.statement(stmt, place)
            if changed is None:
                changed = self.objects.decided(stmt)
            if changed is None:
                changed = self.tables.statement(stmt)
            if changed is not None:
                new.extend(self.straight(changed, place))
                if not changed and not blocks(stmt):
                    self.displays.after(stmt)
                    self.forget(stmt)
                continue
            if blocks(stmt):
                self.forget(stmt)
            inlined = self.expand(stmt, place)
            if inlined is not None:
                new.extend(inlined)
                continue
            *before, stmt = self.checked(stmt)
            new.extend([*before, *self.entered(stmt, place)])
            self.displays.after(stmt)
            new.extend(self.learn(stmt))
            self.tables.learn(stmt)
        return new

    def checked(self, stmt: Any) -> list[Any]:
        """A statement that stays, behind what makes the objects anew that it needs as a whole."""
        before, stmt = self.objects.check(stmt)
        return [*before, stmt]

    def entered(self, stmt: Any, place: _Place) -> list[Any]:
        """A statement that stays, its blocks gone through."""
        self.objects.learn(stmt)
        if not blocks(stmt):
            return [stmt]
        inner, added = replace(place, in_loop=place.in_loop or isinstance(stmt, (gast.For, gast.While))), self.added

        def run(block: list[Any]) -> list[Any]:
            if inner.in_loop:
                self.added = added  # a loop may be gone through several times
            return self.block(block, inner)

        return self.objects.compound(stmt, run)

    def taken_apart(self, stmt: Any) -> list[Any]:
        """`f, g = a, b` as an assignment for each name, where one of them is given a known function."""
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Tuple) or not isinstance(stmt.value, gast.Tuple):
            return [stmt]
        plain = all(isinstance(t, gast.Name) for t in target.elts) and len(target.elts) == len(stmt.value.elts)
        known = any(isinstance(v, gast.Name) and v.id in self.known for v in stmt.value.elts)
        if not plain or not known or core.reads(stmt.value) & set(core.writes(stmt)):
            return [stmt]
        return [core.rebuilt(stmt, targets=[t], value=v) for t, v in zip(target.elts, stmt.value.elts)]

    def forget(self, stmt: Any) -> None:
        """What a statement assigns is not known in its blocks, nor after it."""
        written = [*core.all_writes(stmt), *self.displays.rebound_in(stmt)]
        for name in written:
            self.known.pop(name, None)
        self.tables.forget(stmt)
        if blocks(stmt):
            self.objects.forget(written)

    def learn(self, stmt: Any) -> list[Any]:
        """Take note of a name that is given a known function: `f = helper`, `f = module.helper`.

        The defaults of a nested function under another name are held: its `def` may run again.
        """
        self.forget(stmt)
        if isinstance(stmt, gast.FunctionDef):
            self.displays.rebound |= core.rebound(stmt)
            self.known[stmt.name] = stmt
        elif isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            value = self.object(stmt.value)
            if value is core.MISSING:
                value = self.global_object(stmt.value)
            known = K.is_static(value) or is_closure(value) or self.derivatives.is_known(value)
            if known or (value is not core.MISSING and is_plain(value)):
                self.known[stmt.targets[0].id] = value
            elif isinstance(value, gast.FunctionDef):
                self.known[stmt.targets[0].id], held = self.with_held_defaults(value, core.origin_of(stmt))
                return held
        return []

    def with_held_defaults(self, function: Any, origin: Any) -> tuple[Any, list[Any]]:
        """A nested function whose defaults stay what they are now, and the statements that hold them."""
        defaults = sorted(core.reads(list(defaults_of(function.args).values())))
        held = {name: self.temporary(core.stem(name)) for name in defaults}
        function = core.rebuilt(function, args=core.substitute(function.args, held)) if held else function
        return function, [core.assign(name, core.name(default), origin) for default, name in held.items()]

    def object(self, node: Any) -> Any:
        """The object that an atom, path or item means, else MISSING."""
        if isinstance(node, gast.Name):
            local = node.id in self.local
            return self.known.get(node.id, core.MISSING) if local else self.importer.scope.lookup(node.id)
        if not isinstance(node, (gast.Attribute, gast.Subscript)):
            return core.MISSING
        owner = self.object(node.value)
        if isinstance(owner, ModuleType) and isinstance(node, gast.Attribute):
            return getattr(owner, node.attr, core.MISSING)
        held = value_of_path(node, self.importer.scope) if core.is_path(node, self.local) else core.MISSING
        return held if isinstance(held, ModuleType) else part(owner, node)

    def global_object(self, node: Any) -> Any:
        """A plain object that an atom or path means which is not local, else MISSING."""
        if not core.is_path(node, self.local):
            return core.MISSING
        value = value_of_path(node, self.importer.scope)
        return value if value is not core.MISSING and is_plain(value) else core.MISSING

    def objects_in(self, node: Any) -> list[Any]:
        """The object that an atom means, or those in a tuple of known ones; none where one is not known."""
        display = self.displays.known.get(node.id) if isinstance(node, gast.Name) else None
        found = [self.object(e) for e in (display.elts if isinstance(display, gast.Tuple) else [node])]
        return [] if any(value is core.MISSING for value in found) else found

    def expand(self, stmt: Any, place: _Place) -> list[Any] | None:
        """What takes the place of a call, itself expanded; None for a statement that stays."""
        call = stmt.value if isinstance(stmt, (gast.Assign, gast.Expr)) else None
        if not isinstance(call, gast.Call):
            return None
        known = self.known.get(call.func.id) if isinstance(call.func, gast.Name) else None
        if isinstance(known, gast.FunctionDef):
            return self.closure(stmt, call, known, place)
        derivative = self.object(call.func)
        if self.derivatives.is_known(derivative):
            return self.derivatives.call(stmt, call, derivative)
        if isinstance(known, FunctionType) and not made_anew(known):
            call = core.rebuilt(call, func=self.value(core.stem(call.func.id), known))
        callee = self.called(call)
        if callee is None:
            return None
        origin, name = core.origin_of(stmt), callee.function.__name__
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise NotCompiled(f"a call of {name} with `*` or `**`", origin=origin)
        if callee.function.__code__ in self.recorded:
            return self.by_record(stmt, call, callee)
        body = self.lower(callee.function)
        arguments = self.bindings(call, callee, body)
        if arguments is None:
            return None
        reads = None
        if made_anew(callee.function) and not callee.bound and not callee.keywords:
            reads = Reads(call.func, callee.function, self.temporary, origin)
        if self.stays(callee.function, body, place):
            staying = self.call(stmt, call, callee, arguments, body, reads)
            return None if staying is None else [part for s in staying for part in self.checked(s)]
        new = self.transplant(stmt, arguments, body, reads, place.in_loop)
        if new is None:
            return None
        self.added += len(statements(body.body))
        self.objects.receive(callee.function, next(iter(arguments.values()), None))
        return self.inlined(stmt, new, _Place((*place.functions, callee.function), place.in_loop))

    def inlined(self, stmt: Any, new: list[Any], place: _Place) -> list[Any]:
        """A body that takes the place of a statement, gone through."""
        done = self.straight(new, place)
        self.objects.leave(new, core.writes(stmt))
        return done

    def called(self, call: Any) -> Callee | None:
        """What a call runs, if that is known and the call is to be expanded."""
        scope = self.importer.scope
        known = self.object(call.func)
        if made_anew(known) and not core.is_path(call.func, self.local):
            scope, name = scope.bind("function", known, self.local)
            call = core.rebuilt(call, func=core.name(name))
        return self.resolve(call, scope) if core.is_path(call.func, self.local) else None

    def closure(self, stmt: Any, call: Any, function: Any, place: _Place) -> list[Any] | None:
        """The body of a nested function in the place of its call: its free names are variables of the program."""
        origin = core.origin_of(stmt)
        if recursive.place_of(function) in self.recursive:
            return recursive.call_of(self, stmt, call, function)
        if any(function.body is body for body in place.functions) or len(place.functions) > DEEPEST:
            raise Recursion(recursive.place_of(function))
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise NotCompiled("a call of a nested function with `*` or `**`", origin=origin)
        params = {p.id for p in core.parameters(function.args)}
        if place.in_loop and bound_after(function.body, params, function.variables) is None:
            return None
        own = {core.stem(name): name for name in params}
        renamed = core.substitute(function.args, {}, {name: stem for stem, name in own.items()})
        given = bind_arguments(renamed, call.args, {k.arg: k.value for k in call.keywords})
        if given is None:
            return None
        given = {own[n]: node for n, node in (defaults_of(renamed) | given).items()}
        body = [s for s in function.body if not isinstance(s, gast.Nonlocal)]
        new = self.spliced(stmt, given, core.own_names(function), body, {}, {})
        self.added += len(statements(new))
        if self.added > 5 * LIMIT:
            raise NotCompiled(f"the functions that {self.fn.name} calls are too long together", origin=origin)
        return self.inlined(stmt, new, _Place((*place.functions, function.body), place.in_loop))

    def stays(self, function: FunctionType, body: Function, place: _Place) -> bool:
        """Whether a call of a function stays a call."""
        if function in self.recursive:
            return True
        if function in place.nearest:
            raise Recursion(function)
        if self.size(function) > LONG or self.added + len(statements(body.body)) > LIMIT:
            return True
        return place.in_loop and may_read_deleted(body)

    def size(self, function: FunctionType) -> int:
        """The number of statements of a function, with those of what it calls by name, as far as these are inlined."""
        if function not in self.sizes:
            self.sizes[function] = 0  # of a function that calls itself, where it does
            body = self.lower(function)
            local = body.local_names()
            total = len(statements(body.body))
            for stmt in statements(body.body):
                call = getattr(stmt, "value", None)
                if isinstance(call, gast.Call) and core.is_path(call.func, local):
                    callee = self.resolve(call, body.scope)
                    if callee is None or callee.function.__code__ in self.recorded:
                        continue
                    if callee.function not in self.recursive:
                        inner = self.size(callee.function)
                        total += inner if inner <= LONG else 0
            self.sizes[function] = total
        return self.sizes[function]

    def call(
        self, stmt: Any, call: Any, callee: Callee, arguments: dict[str, Any], body: Function, reads: Reads | None
    ) -> list[Any] | None:
        """The statement with its call in the form of `usercalls`, and before it what that needs."""
        given = self.with_defaults(arguments, body, reads)
        if given is None:
            return None
        passes_itself = reads is not None and bool(callee.function.__closure__)
        formed = self.formed(
            stmt, call, core.stem(callee.function.__name__), given, body,
            lambda fixed: in_form(callee.function, fixed, passes_itself), [call.func] if passes_itself else [],
        )  # fmt: skip
        return [*(reads.statements if reads is not None else ()), *formed]

    def formed(
        self,
        stmt: Any,
        call: Any,
        name: str,
        given: Mapping[str, Any],
        body: Function,
        form: Callable[[list[tuple[str, Any]]], FunctionType],
        itself: Sequence[Any] = (),
    ) -> list[Any]:
        """The statement with a call of `form(fixed)`: of a function that has no parameters for what is known.

        given: the argument of each parameter of `body`, in order. itself: what is passed before them.
        """
        rebound = {n for s in statements(body.body) for n in defs(s)}
        fixed = {n: self.object(node) for n, node in given.items() if n not in rebound and isinstance(node, gast.Name)}
        fixed = {n: value for n, value in fixed.items() if K.is_static(value) and not made_anew(value)}
        function = form(list(fixed.items()))
        if function is not self.object(call.func) or not core.is_path(call.func, self.local):
            call = core.rebuilt(call, func=core.name(self.importer.bind(name, function)))
        operands = [(name, node) for node in itself] + [(n, node) for n, node in given.items() if n not in fixed]
        before, args = [], []
        for hint, node in operands:
            if not core.is_atom(node):
                held = self.temporary(core.stem(hint))
                before.append(core.assign(held, node, core.origin_of(stmt)))
                node = core.name(held)
            args.append(node)
        return [*before, core.rebuilt(stmt, value=core.rebuilt(call, args=args, keywords=[]))]

    def by_record(self, stmt: Any, call: Any, callee: Callee) -> list[Any] | None:
        """The statement with a call that is recorded by itself."""
        function = callee.function
        if callee.bound or callee.keywords:
            return None
        live = made_anew(function)
        stand_in = by_record(function, len(call.args), [k.arg for k in call.keywords], live)
        args = [*call.args, *(k.value for k in call.keywords)]
        before: list[Any] = []
        if live:
            itself = call.func
            if not core.is_atom(itself):
                held = self.temporary(core.stem(function.__name__))
                before.append(core.assign(held, itself, core.origin_of(stmt)))
                itself = core.name(held)
            args.insert(0, itself)
        name = function.__name__ if function.__name__.isidentifier() else "lambda_"
        called = core.name(self.importer.bind(name, stand_in))
        return [*before, core.rebuilt(stmt, value=core.rebuilt(call, func=called, args=args, keywords=[]))]

    def with_defaults(self, arguments: dict[str, Any], body: Function, reads: Reads | None) -> dict[str, Any] | None:
        """The argument of each parameter, in order; None where a default has no meaning here."""
        defaults = {name: node for name, node in defaults_of(body.params).items() if name not in arguments}
        if reads is not None:
            defaults = reads.defaults(defaults)
        else:
            missing = core.reads([*defaults.values()])
            meanings = {name: self.importer.meaning(name, body.scope) for name in sorted(missing)}
            if None in meanings.values():
                return None
            defaults = {name: core.substitute(node, meanings) for name, node in defaults.items()}
        return {name: arguments[name] if name in arguments else defaults[name] for name in body.param_names}

    def bindings(self, call: Any, callee: Callee, body: Function) -> dict[str, Any] | None:
        """The argument of each parameter that gets one; None for a wrong call."""
        call = core.rebuilt(
            call,
            args=list(map(self.known_value, call.args)),
            keywords=[core.rebuilt(k, value=self.known_value(k.value)) for k in call.keywords],
        )
        positional = [p.id for p in (*body.params.posonlyargs, *body.params.args)]
        hints = itertools.chain(positional, itertools.repeat("argument"))
        bound = [self.value(hint, value) for hint, value in zip(hints, callee.bound)]
        keywords = {name: self.value(name, value) for name, value in callee.keywords.items()}
        return bind_arguments(body.params, [*bound, *call.args], keywords | {k.arg: k.value for k in call.keywords})

    def known_value(self, node: Any) -> Any:
        """An argument; a name that holds a known object is the object."""
        known = self.known.get(node.id) if isinstance(node, gast.Name) else None
        live = isinstance(known, (gast.FunctionDef, LocalDerivative, tuple, CellType)) or made_anew(known)
        return node if known is None or live else self.value(core.stem(node.id), known)

    def value(self, hint: str, value: Any) -> Any:
        """An object as an atom."""
        return core.constant(value) if type(value) in _LITERALS else core.name(self.importer.bind(hint, value))

    def transplant(
        self, stmt: Any, arguments: dict[str, Any], body: Function, reads: Reads | None, in_loop: bool
    ) -> list[Any] | None:
        """Bindings of the parameters, the body, and the assignment of the result, all in names of the caller.

        in_loop: the variables that it may read before they are assigned are unbound in each round.
        """
        rebound = list(dict.fromkeys(n for s in statements(body.body) for n in defs(s)))
        own = dict.fromkeys([*body.param_names, *rebound])
        given = self.with_defaults(arguments, body, reads)
        if given is None:
            return None
        free = sorted(core.reads(body.body) - own.keys())
        places = (
            reads.cells(self.importer.apart(free, body.scope, self.shares), body.scope) if reads is not None else {}
        )
        meanings = {name: places.get(name) or self.importer.meaning(name, body.scope) for name in free}
        if None in meanings.values():
            return None
        live = {name: self.temporary(name) for name, meaning in meanings.items() if not core.is_atom(meaning)}
        if in_loop:
            given = {**given, **{name: self.value("absent", absent) for name in sorted(may_be_unbound(body))}}
        read = {live[name]: meanings[name] for name in live}
        return [
            *(reads.statements if reads is not None else ()),
            *self.spliced(stmt, given, own, body.body, meanings | live, read),
        ]

    def spliced(
        self,
        stmt: Any,
        given: Mapping[str, Any],
        own: Iterable[str],
        body: Sequence[Any],
        loads: Mapping[str, Any],
        live: Mapping[str, Any],
    ) -> list[Any]:
        """Bindings of the parameters, a body, and the assignment of its result.

        given: the argument of each parameter, and what variables hold at the start. own: the parameters and variables
            of the body, which get fresh names.
        loads: what other names in it mean here; live: the places that are read where it uses these names.
        """
        rebound = {n for s in statements(body) for n in (*defs(s), *core.rebound(s))}
        # An object of the scope stays what it is: under its own name, its attributes are paths that can be resolved.
        fixed = {name: node for name, node in given.items() if name not in rebound and self.is_bound(node)}
        names = {name: self.temporary(core.stem(name)) for name in own if name not in fixed}
        constants = {n: a.value for n, a in given.items() if n not in rebound and isinstance(a, gast.Constant)}
        self.constants.update({names[n]: value for n, value in constants.items() if n in names})
        *moved, last = (core.substitute(s, {**loads, **fixed, **names}, names) for s in body)
        if not (isinstance(stmt, gast.Expr) and isinstance(last.value, gast.Constant)):
            moved.append(core.rebuilt(stmt, value=last.value))
        moved = LiveReads(live).block(moved)
        origin = core.origin_of(stmt)
        new = [core.assign(names[n], node, origin) for n, node in given.items() if n not in fixed] + moved
        return new or [core.place(gast.Pass(), origin)]

    def is_bound(self, node: Any) -> bool:
        """Whether an argument is an object that the scope binds, or a function that is known by name."""
        if not isinstance(node, gast.Name):
            return False
        if node.id in self.local:
            known = self.known.get(node.id)
            return isinstance(known, gast.FunctionDef) or made_anew(known)
        if node.id in self.importer.scope.names or isinstance(self.object(node), FunctionType):
            return True
        return self.global_object(node) is not core.MISSING


# --- what can be inlined ----------------------------------------------------------------------------------------


def without_closures(body: Sequence[Any], iterators: Set[str] = frozenset()) -> list[Any]:
    """A body without the nested functions, and what holds them, that nothing needs any more.

    iterators: names of what only goes through displays of functions.
    """
    while True:
        functions = {s.name for s in statements(body) if isinstance(s, gast.FunctionDef)}
        for stmt in statements(body):
            functions.update(_holder(stmt, functions))
        needed = _needed(statements(body), functions)
        fewer = _without(body, functions, needed, iterators)
        if len(statements(fewer)) == len(statements(body)):
            return fewer
        body = fewer


def _needed(stmts: Sequence[Any], functions: Set[str]) -> set[str]:
    """The names that statements use; a nested function, and what holds it, use names where they are used themselves."""
    needed: set[str] = set()
    idle: list[tuple[list[str], Any]] = []
    for stmt in stmts:
        held = [stmt.name] if isinstance(stmt, gast.FunctionDef) else _holder(stmt, functions)
        if held:
            idle.append((held, stmt))
        else:
            needed.update(uses(stmt))
    size = -1
    while size != len(needed):
        size = len(needed)
        needed.update(n for held, stmt in idle if not needed.isdisjoint(held) for n in uses(stmt))
    return needed


def _without(block: Iterable[Any], functions: Set[str], needed: Set[str], iterators: Set[str]) -> list[Any]:
    def idle(stmt: Any) -> bool:
        if isinstance(stmt, gast.FunctionDef):
            return stmt.name not in needed
        held = _holder(stmt, functions) or [n for n in core.writes(stmt) if n in iterators]
        return bool(held) and needed.isdisjoint(held)

    stay = [s for s in block if not idle(s)]
    return [with_blocks(s, lambda _, inner: _without(inner, functions, needed, iterators)) for s in stay]


def _holder(stmt: Any, functions: Set[str]) -> list[str]:
    """The name to which a statement gives a function, or a display with functions in it; none for other statements."""
    if not functions or type(stmt) is not gast.Assign or type(stmt.targets[0]) is not gast.Name:
        return []
    value = stmt.value
    if isinstance(value, gast.Dict):
        atoms = all(k is not None for k in value.keys) and value.values
    elif isinstance(value, (gast.Tuple, gast.List)):
        atoms = not any(isinstance(e, gast.Starred) for e in value.elts) and value.elts
    else:
        atoms = [value]
    held = any(isinstance(a, gast.Name) and a.id in functions for a in atoms or ())
    return core.writes(stmt) if held else []


def _last_number(names: Iterable[str]) -> int:
    return max((int(number) for name in names for number in re.findall(r"··(\d+)", name)), default=0)
