"""A generated function, compiled by Numba: `backend="numba"`.

What is generated is plain Python, and so nearly what Numba compiles. A dialect of it is written here, from the
generated text, whose lines keep their numbers:

    reversed(range(n))          range(n - 1, -1, -1)
    u[1:] += u[:-1] * k         u[1:] += made(u[:-1] * k)       Numba would read what it has just written
    k (a global, a variable)    a parameter, as Numba takes globals for constants

Helpers are taken from `runtime/backends/jitted.py`; a forward and a reverse sweep of a call that stays are compiled in
their turn. What Numba does not know, and calls that may call themselves (their residuals have no type), are refused by
BackendError, which names the line. Numba compiles for the types of a call, at that call.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s import kinds as K
from s2s.codegen.build import Built
from s2s.compiler.store import Compiled
from s2s.core import MISSING, Origin
from s2s.errors import BackendError
from s2s.kinds import Kind

# What Numba is given as it is.
_BUILTINS = {len, range, abs, min, max, int, float, complex, bool, round, enumerate, zip, slice, sum, pow, divmod}
_NUMBERS = (bool, int, float, complex, np.number, np.bool_, np.ndarray)


def compiled_by_numba(
    compiled: Compiled, kinds: Mapping[str, Kind], sweeps: Sequence[Built], gradients: Sequence[str], with_value: bool
) -> Callable[..., Any]:
    """The generated function, called as it is, as Numba compiles it; there is no tape to fall back upon.

    kinds: those of the arguments. sweeps: the generated functions that it may call.
    gradients: the parameters whose gradients are returned, in order. with_value: after the value.
    """
    built = compiled.built
    if built is None:
        assert compiled.refusal is not None
        raise BackendError(f"there is nothing for Numba: {compiled.refusal.message}", origin=compiled.refusal.origin)
    try:
        from s2s.runtime.backends import jitted
    except ImportError as error:
        raise BackendError(
            'backend="numba" needs Numba', hint='install it: pip install "s2s-autodiff[numba]"'
        ) from error
    for name, kind in kinds.items():
        if not _is_taken(kind):
            raise BackendError(f"Numba compiles for numbers, arrays and tuples of them, and {name!r} is none")
    code = built.function.__code__
    made = _made.get(code)
    if made is None:
        made = _made[code] = _Dialect(built, {part.function.__code__: part for part in sweeps}, jitted).function()
    return _called(made, built, _like(kinds, gradients, with_value))


def _is_taken(kind: Kind) -> bool:
    if isinstance(kind, K.Tuple):
        return kind.cls is tuple and all(map(_is_taken, kind.items))
    return isinstance(kind, (K.Scalar, K.Int, K.Bool, K.NoneKind, K.Array))


Convert = Callable[[Any], Any]


class _Made:
    """A function that Numba compiles, and the free names whose values it takes after its own parameters."""

    def __init__(self, call: Any, params: Sequence[str], live: Sequence[str]) -> None:
        self.call = call
        self.params = params
        self.live = live


# By the code of the generated function, which functions of the same code share.
_made: weakref.WeakKeyDictionary[types.CodeType, _Made] = weakref.WeakKeyDictionary()


def _read(function: types.FunctionType, name: str) -> Any:
    """What a free name of a function means now."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    if name in cells:
        return cells[name].cell_contents
    value = function.__globals__.get(name, MISSING)
    return getattr(builtins, name, MISSING) if value is MISSING else value


class _Dialect(ast.NodeTransformer):
    """The generated function in Numba's dialect."""

    node: Any

    def __init__(self, built: Built, sweeps: Mapping[types.CodeType, Built], helpers: Any, around: Any = ()) -> None:
        self.built = built
        self.sweeps = sweeps
        self.helpers = helpers
        self.around = (*around, built.function.__code__)
        self.names: dict[str, Any] = {}
        self.live: list[str] = []
        (self.node,) = ast.parse(built.source).body
        self.fresh = _fresh_names(self.node)

    def function(self) -> _Made:
        node = self.node
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise BackendError(f"{node.name}: Numba compiles no variadic parameters here")
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        names: list[Any] = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        local = {a.arg for a in own} | {n.id for n in names if _is_stored(n)}
        self.resolve(sorted({n.id for n in names} - local))
        body = [self.visit(stmt) for stmt in node.body]
        live = [ast.arg(name, lineno=1, col_offset=0) for name in self.live]
        node.args = ast.arguments(posonlyargs=[], args=[*own, *live], kwonlyargs=[], kw_defaults=[], defaults=[])
        for parameter in node.args.args:
            parameter.annotation = None
        node.body, node.decorator_list, node.returns = body, [], None
        module = ast.fix_missing_locations(ast.Module([node], []))
        namespace: dict[str, Any] = {**self.names, **self.helpers.OURS}
        exec(compile(module, self.built.filename, "exec"), namespace)
        return _Made(self.helpers.compiled(namespace[node.name]), [a.arg for a in own], self.live)

    # --- free names ---

    def resolve(self, names: Sequence[str]) -> None:
        for name in names:
            value = _read(self.built.function, name)
            if isinstance(value, _NUMBERS):
                self.live.append(name)
            else:
                self.names[name] = self.known(name, value)

    def known(self, name: str, value: Any) -> Any:
        """What a free name means to Numba."""
        try:
            helper = self.helpers.HELPERS.get(value)
        except TypeError:  # unhashable
            helper = None
        if helper is not None:
            return helper
        if isinstance(value, types.FunctionType) and value.__code__ in self.sweeps:
            if value.__code__ in self.around:
                said = f"`{name}` may come to call itself: what it keeps for the reverse sweep has no type"
                raise BackendError(said, origin=self.place_of(name))
            inner = _Dialect(self.sweeps[value.__code__], self.sweeps, self.helpers, self.around).function()
            if inner.live:
                raise BackendError(f"`{name}` reads the numbers {sorted(inner.live)}, which are not passed to it")
            return inner.call
        is_module = value in (np, math, np.linalg) if isinstance(value, types.ModuleType) else False
        theirs = getattr(value, "__module__", None) in ("numpy", "math", "builtins") or isinstance(value, np.ufunc)
        if is_module or (callable(value) and (theirs or value in _BUILTINS)):
            return value
        raise BackendError(f"`{name}` is nothing that Numba compiles", origin=self.place_of(name))

    def place_of(self, name: str) -> Origin | None:
        lines = [n.lineno for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name]
        return next((self.built.lines[line] for line in lines if line in self.built.lines), None)

    # --- the dialect ---

    def visit_Call(self, node: Any) -> Any:
        if _is_call(node, "reversed") and _is_call(node.args[0], "range"):
            return self.backwards(node.args[0])
        node = self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("array", "asarray"):
            owner = node.func.value
            helper = {(): "array·", ("dtype",): "array_of·"}.get(tuple(k.arg for k in node.keywords))
            if helper is not None and isinstance(owner, ast.Name) and self.names.get(owner.id) is np:
                node.func = ast.copy_location(ast.Name(helper, ast.Load()), node)
                node.args, node.keywords = [*node.args, *(k.value for k in node.keywords)], []
        return node

    def visit_Subscript(self, node: Any) -> Any:
        """`range(n)[::-1]`."""
        if _is_call(node.value, "range") and ast.unparse(node.slice) == "::-1":
            return self.backwards(node.value)
        return self.generic_visit(node)

    def backwards(self, call: Any) -> Any:
        """A range from its end to its start."""
        visited: Any = self.generic_visit(call)
        bounds = list(visited.args)
        bounds = [ast.Constant(0), *bounds] if len(bounds) == 1 else bounds
        bounds = [*bounds, ast.Constant(1)] if len(bounds) == 2 else bounds
        return ast.copy_location(ast.Call(ast.Name("backwards·", ast.Load()), bounds, []), call)

    def visit_AugAssign(self, node: Any) -> Any:
        """A write whose right side may be the same memory: NumPy buffers it, Numba does not."""
        node = self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in self.fresh):
            return node
        helper = "owned·" if isinstance(value, (ast.Name, ast.Subscript, ast.Attribute)) else "made·"
        node.value = ast.copy_location(ast.Call(ast.Name(helper, ast.Load()), [value], []), value)
        return node


def _is_call(node: Any, name: str) -> bool:
    return bool(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name)


def _is_stored(node: Any) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _stored_in(target: Any) -> list[str]:
    found: list[Any] = [n for n in ast.walk(target) if _is_stored(n)]
    return [n.id for n in found]


def _fresh_names(node: Any) -> set[str]:
    """The names that hold results of arithmetic only, which are nobody else's memory."""
    stored: dict[str, bool] = {a.arg: False for a in (*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs)}
    inner: Any
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign):
            fresh = isinstance(inner.value, (ast.BinOp, ast.UnaryOp, ast.Constant))
            for name in (name for target in inner.targets for name in _stored_in(target)):
                stored[name] = stored.get(name, True) and fresh
        elif isinstance(inner, (ast.For, ast.comprehension)):
            stored |= dict.fromkeys(_stored_in(inner.target), False)
    return {name for name, fresh in stored.items() if fresh}


# --- calls ------------------------------------------------------------------------------------------------------


def _called(made: _Made, built: Built, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function as it is called: with keywords, and live values read at the call."""
    from numba.core.errors import NumbaError

    names, function = list(made.params), built.function

    def call(*args: Any, **keywords: Any) -> Any:
        given = (*args, *(keywords[name] for name in names[len(args) :]))
        try:
            return convert(made.call(*given, *(_read(function, name) for name in made.live)))
        except NumbaError as error:
            raise _refusal(error, built) from error

    return call


def _refusal(error: Any, built: Built) -> BackendError:
    """What Numba does not compile, at the user's line."""
    line = getattr(getattr(error, "loc", None), "line", 0)
    said = next((text.strip() for text in str(error).splitlines()[1:] if text.strip()), type(error).__name__)
    return BackendError(
        f"Numba does not compile this: {said}",
        origin=built.lines.get(line),
        hint='leave `backend="numba"` out, or write the function with what Numba knows.',
    )


def _like(kinds: Mapping[str, Kind], gradients: Sequence[str], with_value: bool) -> Convert:
    """What makes of a result of Numba's, whose numbers are Python's, what NumPy would have given."""
    arrays = any(not (isinstance(k, K.Scalar) and k.python) and K.differentiable(k) for k in kinds.values())
    converts = [_of_kind(kinds[name]) for name in gradients]

    def gradient(value: Any) -> Any:
        return tuple(c(v) for c, v in zip(converts, value)) if isinstance(value, tuple) else converts[0](value)

    def both(result: Any) -> Any:
        value = np.float64(result[0]) if arrays and isinstance(result[0], float) else result[0]
        return value, gradient(result[1])

    return both if with_value else gradient


def _of_kind(kind: Kind) -> Convert:
    if isinstance(kind, K.Scalar):
        return (float if kind.dtype.kind == "f" else complex) if kind.python else kind.dtype.type
    if isinstance(kind, K.Array):
        return lambda value: np.asarray(value, kind.dtype)
    return lambda value: value
