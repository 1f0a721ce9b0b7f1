"""Which variant serves a call: guards and variants -> one generated function.

The function has the primal's own signature. For `loss(w, x)` with one variant it reads, names shortened,

    def loss(w, x, *, out_bar=1.0):
        try:
            if (out_bar is one or type(out_bar) is float) and type(w) is ndarray and ... and np is numpy:
                route = variant0
            else:
                route = None
        except Exception:
            route = None
        if route is None:
            return miss((w, x), out_bar)
        try:
            return route(w, x, out_bar=out_bar)
        except Exception as error:
            annotate(error)
            raise

A `try` costs nothing while nothing is raised. A test may raise: a name that was deleted, an object that misbehaves.

The defaults of the primal may be replaced at any time. So a parameter that has one is preceded by

    try:
        if rate is unset:
            rate = primal.__defaults__[-1]
    except Exception:
        return renew((w, x, rate), out_bar)

where the exception means that the default is gone.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.compiler.guards import Bindings
from s2s.compiler.layout import Layout

# The seed of a call that gives none, known by identity.
_ONE = 1.0


class _Unset:
    """Stands for an argument that is not given."""

    def __repr__(self) -> str:
        return "<not given>"


UNSET = _Unset()

Miss = Callable[[tuple[Any, ...], Any], Any]


@dataclass(frozen=True)
class Route:
    """The condition under which a variant serves a call, as text, and the variant."""

    condition: str
    call: Callable[..., Any]


def dispatcher(
    function: types.FunctionType,
    layout: Layout,
    routes: Sequence[Route],
    bind: Bindings,
    miss: Miss,
    renew: Miss,
    annotate: Callable[[BaseException], None],
) -> types.FunctionType:
    """The function that calls the first variant whose condition holds, else `miss(values, seed)`.

    It takes the defaults that `function` has at the call, and calls `renew(values, seed)` if one of those that it had
    when this was made is missing.

    function: the primal; the conditions run in its scope, so that they read globals and cells as it does.
    bind: the objects that the conditions name.
    """
    names = {
        "miss·": miss,
        "renew·": renew,
        "primal·": function,
        "unset·": UNSET,
        "annotate·": annotate,
        "Exception·": Exception,
        "type·": type,
        "float·": float,
        "one·": _ONE,
    }
    names |= {f"route·{i}": route.call for i, route in enumerate(routes)} | bind.values
    defaults = (UNSET,) * len(function.__defaults__ or ())
    keyword_defaults = dict.fromkeys(function.__kwdefaults__ or (), UNSET)
    text = _text(layout, len(defaults), tuple(keyword_defaults), [r.condition for r in routes])
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    code = _compiled(text, (*cells, *names), function.__code__.co_name, function.__qualname__)
    closure = tuple(cells[n] if n in cells else types.CellType(names[n]) for n in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, defaults, closure)
    made.__kwdefaults__ = {**keyword_defaults, layout.seed: _ONE}
    # Ours, not the user's: a record calls it as it is, so that it sees that its arguments are recorded.
    made.__module__ = __name__
    return made


def _text(layout: Layout, defaults: int, keyword_defaults: Sequence[str], conditions: Sequence[str]) -> str:
    seed = layout.seed
    values = "".join(f"{name}, " for name in layout.names)
    lines = [f"def dispatch·({layout.parameters(defaults, keyword_defaults, seed=True)}):"]
    given = {
        name: f"primal·.__defaults__[{-i}]" for i, name in enumerate(reversed(layout.positional), 1) if i <= defaults
    }
    given |= {name: f"primal·.__kwdefaults__[{name!r}]" for name in layout.kwonly if name in keyword_defaults}
    if given:
        lines.append("    try:")
        for name, default in given.items():
            lines += [f"        if {name} is unset·:", f"            {name} = {default}"]
        lines += ["    except Exception·:", f"        return renew·(({values}), {seed})"]
    if conditions:
        lines.append("    try:")
        for i, condition in enumerate(conditions):
            lines.append(f"        {'el' if i else ''}if ({seed} is one· or type·({seed}) is float·) and {condition}:")
            lines.append(f"            route· = route·{i}")
        lines += ["        else:", "            route· = None"]
        lines += ["    except Exception·:", "        route· = None"]
        lines += ["    if route· is None:", f"        return miss·(({values}), {seed})"]
        lines += ["    try:", f"        return route·({', '.join([*layout.arguments(), f'{seed}={seed}'])})"]
        lines += ["    except Exception· as error·:", "        annotate·(error·)", "        raise"]
    else:
        lines.append(f"    return miss·(({values}), {seed})")
    return "\n".join(lines)


@functools.lru_cache(maxsize=512)
def _compiled(text: str, free: tuple[str, ...], name: str, qualname: str) -> types.CodeType:
    """The code of the dispatch function, with some names as free variables."""
    indented = text.replace("\n", "\n    ")
    module = compile(f"def factory({', '.join(free)}):\n    {indented}", f"<s2s dispatch of {name}>", "exec")
    factory = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in factory.co_consts if isinstance(c, types.CodeType))
    return code.replace(co_name=name, co_qualname=qualname)
