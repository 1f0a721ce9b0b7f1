"""Two columns: the user's statements, and beside them the generated lines that came from each.

Every generated line knows its origin, so this is one walk over the text: where the origin changes, the user's
statement is shown on the left, indented as it stands there. Statements of a function that was inlined carry its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from s2s.codegen.build import Built
from s2s.compiler.derivative import GradientFunction
from s2s.compiler.driver import source_of
from s2s.core import Origin
from s2s.errors import ArgumentError, SourceUnavailableError, UnsupportedSyntaxError

_WIDEST = 60

# These lines belong to the statement above them.
_CLAUSES = ("else:", "finally:")


def explain(df: GradientFunction, *example_args: Any, **example_keywords: Any) -> str:
    """The user's source and the generated one side by side; below, what was recorded on the tape, where and why.

    df: what `grad` or `value_and_grad` returned.
    example_args, example_keywords: as for `df.source`: what the arguments are decides what is generated.

    >>> import s2s
    >>> def cube(x):
    ...     y = x * x
    ...     return y * x
    >>> "return y * x |     y_bar = out_bar * x" in s2s.explain(s2s.grad(cube), 2.0)
    True
    """
    if not isinstance(df, GradientFunction):
        raise ArgumentError(f"explain takes what s2s.grad returns, not {type(df).__name__}")
    try:
        built = source_of(df._variant(example_args, example_keywords), df.primal.__name__)
        shown = side_by_side(built, df.primal.__name__)
    except (UnsupportedSyntaxError, SourceUnavailableError) as refusal:
        shown = str(refusal)
    return "\n".join([shown, *map(str, df.fallbacks)])


def side_by_side(built: Built, function: str) -> str:
    """A generated function on the right; on the left the statements, most of them of `function`, that it came from."""
    rows = list(_rows(built))
    origins = [origin for origin, _ in rows if origin is not None]
    margins = _margins(origins)
    labels = {o: str(o.line) if o.function == function else f"{o.function}:{o.line}" for o in origins}
    widest = max(map(len, labels.values()), default=0)

    def statement(origin: Origin | None) -> str:
        if origin is None:
            return ""
        indent = " " * (origin.column - margins[origin.function])
        return _clipped(f"{labels[origin]:>{widest}}  {indent}{origin.text}")

    width = max((len(statement(origin)) for origin in origins), default=0)
    return "\n".join(f"{statement(origin):{width}} | {line}".rstrip() for origin, line in rows)


def _rows(built: Built) -> Iterator[tuple[Origin | None, str]]:
    """The generated lines, each with its origin where that differs from the one before."""
    last = None
    for number, line in enumerate(built.source.splitlines(), 1):
        origin = built.lines.get(number)
        if origin is not None and line.strip() == f"# {origin.text}":
            continue  # the left column quotes it
        if origin == last or line.strip() in _CLAUSES or line.strip().startswith("#"):
            yield None, line
        else:
            yield origin, line
            last = origin or last


def _margins(origins: Iterable[Origin]) -> dict[str, int]:
    """The least indentation in each function."""
    margins: dict[str, int] = {}
    for origin in origins:
        margins[origin.function] = min(origin.column, margins.get(origin.function, origin.column))
    return margins


def _clipped(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
