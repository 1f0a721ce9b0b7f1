"""Derivatives that a program takes: `grad(energy)(x)` becomes a call of the gradient that the compiler generates.

    h = s2s.grad(energy)                    h is known, and dropped
    g = h(x)                    ->          g = energy_grad(x)          in the form of `usercalls`

A nested function is differentiated as a function of its own, which takes the variables of the program around it as
further parameters:

    def inner(y): return x * y              def inner(y, x): return x * y
    g = grad(inner)(1.0)        ->          g = inner_grad(1.0, x)

`inline` asks for each statement, as it goes through a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gast

from s2s import core
from s2s.codegen.build import build
from s2s.core import MISSING, Function
from s2s.errors import NotCompiled
from s2s.kinds import is_static
from s2s.transforms.anew import made_anew
from s2s.transforms.classes import value_of_path
from s2s.transforms.parameters import bind_arguments, defaults_of
from s2s.transforms.structure import statements, uses
from s2s.transforms.task import Derivative
from s2s.transforms.usercalls import by_derivative

if TYPE_CHECKING:
    from s2s.transforms.inline import _Inliner


@dataclass(frozen=True, eq=False)
class LocalDerivative:
    """A derivative of a nested function: `operator(function, *args, **keywords)`."""

    operator: Any
    function: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


class Derivatives:
    """The derivatives that are known at one place of a program.

    unnamed: names of derivatives of nested functions, which can be called, and nothing else.
    """

    def __init__(self, run: _Inliner) -> None:
        self.run = run
        self.unnamed: set[str] = set()

    def is_known(self, value: Any) -> bool:
        """Whether a value is a derivative of a known function."""
        return isinstance(value, LocalDerivative) or self.run.program.derivative(value) is not None

    def statement(self, stmt: Any) -> list[Any] | None:
        """What takes the place of a statement that makes a derivative of a known function; None for others."""
        target: Any = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        found = self.made(stmt.value) if isinstance(target, gast.Name) else MISSING
        if found is MISSING:
            return None
        origin, held = core.origin_of(stmt), list[Any]()
        self.run.forget(stmt)
        if isinstance(found, LocalDerivative):
            function, held = self.run.with_held_defaults(found.function, origin)
            found = replace(found, function=function)
            self.unnamed.add(target.id)
            value = core.name(function.name)
        else:
            value = self.run.value(core.stem(target.id), found)
        self.run.known[target.id] = found
        return [*held, core.rebuilt(stmt, value=value)]

    def check_left(self, body: Sequence[Any]) -> None:
        """Refuse a derivative of a nested function that is used otherwise than by a call."""
        for stmt in statements(body):
            if not self.unnamed.isdisjoint(uses(stmt)):
                raise NotCompiled(
                    "the derivative of a nested function is more than called", origin=core.origin_of(stmt)
                )

    def made(self, call: Any) -> Any:
        """The derivative that a call makes; MISSING where it makes none, or one that is not known."""
        if not isinstance(call, gast.Call) or not call.args or any(k.arg is None for k in call.keywords):
            return MISSING
        operator = self.operator(call.func)
        if not self.run.program.derives(operator):
            return MISSING
        args = [*map(self.constant, call.args)]
        # Whether the tape is refused makes no difference to what is compiled.
        keywords = {k.arg: self.constant(k.value) for k in call.keywords if k.arg != "strict"}
        if any(value is MISSING for value in (*args, *keywords.values())):
            return MISSING
        if isinstance(args[0], gast.FunctionDef):
            return LocalDerivative(operator, args[0], tuple(args[1:]), keywords)
        return operator(*args, **keywords)

    def operator(self, path: Any) -> Any:
        """The function that a path leads to, or MISSING."""
        found = self.run.object(path)
        if found is MISSING and core.is_path(path, self.run.local):
            return value_of_path(path, self.run.importer.scope)
        return found

    def constant(self, node: Any) -> Any:
        """What an argument is: a constant, a known function, a tuple of such; else MISSING."""
        if isinstance(node, gast.Constant):
            return node.value
        if isinstance(node, gast.Name) and node.id in self.run.constants:
            return self.run.constants[node.id]
        display = self.run.displays.known.get(node.id) if isinstance(node, gast.Name) else None
        if isinstance(display, gast.Tuple):
            items = tuple(map(self.constant, display.elts))
            return MISSING if any(item is MISSING for item in items) else items
        value = self.run.object(node)
        known = isinstance(value, gast.FunctionDef) or (callable(value) and not varies(value))
        return value if known else MISSING

    def call(self, stmt: Any, call: Any, derivative: Any) -> list[Any] | None:
        """What takes the place of a call of a derivative; None where the call is wrong, or of a kind that stays."""
        if isinstance(derivative, LocalDerivative):
            return self.local_call(stmt, call, derivative)
        made = self.run.program.derivative(derivative)
        if made is None or made.bound or made.keywords:
            return None
        body = self.run.lower(made.function)
        arguments = self.run.bindings(call, made, body)
        given = None if arguments is None else self.run.with_defaults(arguments, body, None)
        return None if given is None else self.stated(stmt, call, made, given, body)

    def local_call(self, stmt: Any, call: Any, derivative: LocalDerivative) -> list[Any] | None:
        function = derivative.function
        params = function.args
        if params.vararg is not None or params.kwarg is not None:
            raise NotCompiled("the derivative of a nested function with `*` or `**`", origin=core.origin_of(stmt))
        lifted, names = self.lifted(function)
        renamed = core.substitute(params, {}, names)
        given = bind_arguments(renamed, call.args, {k.arg: k.value for k in call.keywords})
        if given is None:
            return None
        made = self.run.program.derivative(derivative.operator(lifted, *derivative.args, **derivative.keywords))
        assert made is not None
        body = self.run.lower(made.function)
        given = {names[name]: core.name(name) for name in names} | defaults_of(renamed) | given
        return self.stated(stmt, call, made, {name: given[name] for name in body.param_names}, body)

    def stated(self, stmt: Any, call: Any, made: Derivative, given: dict[str, Any], body: Function) -> list[Any]:
        """The statement with a call of the stand-in for a derivative."""
        name = f"{made.function.__name__}_grad"
        return self.run.formed(stmt, call, name, given, body, lambda fixed: by_derivative(made, fixed))

    # --- nested functions ---

    def lifted(self, function: Any) -> tuple[Any, dict[str, str]]:
        """A nested function as one of its own, and the names of its parameters, and of the variables that it takes."""
        origin = core.origin_of(function) or self.run.fn.origin
        if core.rebound(function) - core.own_names(function):
            raise NotCompiled("the derivative of a nested function that rebinds names outside of itself", origin=origin)
        functions = self.called(function, {})
        body = [*functions.values(), *function.body]
        own = core.own_names(function) | functions.keys()
        free = set(core.reads(body) - own)
        constants, variables = self.captured(free, origin)
        params = [p.id for p in core.parameters(function.args)]
        names: dict[str, str] = {}
        taken = free - set(variables)
        for name in [*params, *variables, *sorted(own - set(params))]:
            names[name] = core.unique(core.stem(name), taken.__contains__)
            taken.add(names[name])
        given = {name: names[name] for name in (*params, *variables)}
        moved = tuple(core.substitute(s, constants | names, names) for s in body)
        scope = self.run.importer.scope
        made = Function(core.stem(function.name), core.positional(given.values()), moved, scope, origin)
        return build(made).function, given

    def captured(self, names: Iterable[str], origin: Any) -> tuple[dict[str, Any], list[str]]:
        """Of the free names of a nested function those that hold known objects, and those to be passed to it.

        Variables of a function around the program are among the latter: they are others for the next function that is
        made of the same text.
        """
        constants: dict[str, Any] = {}
        variables: list[str] = []
        scope = self.run.importer.scope
        for name in sorted(names):
            local = name in self.run.local
            if not local and (name in scope.names or name not in scope.cells):
                continue
            value = self.run.object(core.name(name))
            if not is_static(value):
                variables.append(name)
            elif varies(value):
                raise NotCompiled(f"the derivative of a nested function that uses {core.stem(name)}", origin=origin)
            elif local:
                constants[name] = core.name(self.run.importer.bind(core.stem(name), value))
        return constants, variables

    def called(self, function: Any, found: dict[str, Any]) -> dict[str, Any]:
        """The nested functions of the program that a nested function names, and those that these name."""
        for name in sorted(core.reads(function.body) - core.own_names(function) - found.keys()):
            known = self.run.known.get(name)
            if isinstance(known, gast.FunctionDef):
                found[name] = core.rebuilt(known, name=name)
                self.called(known, found)
        return found


def varies(function: Any) -> bool:
    """Whether another function of the same text may take the place of a function, and differ in what it holds."""
    return made_anew(function) and bool(function.__closure__ or function.__defaults__ or function.__kwdefaults__)
