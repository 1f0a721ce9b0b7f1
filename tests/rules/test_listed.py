"""`docs/rules.md` lists every function that has a derivative rule. What it lists stays: a rule that is lost shows here.

python tests/rules/test_listed.py      # write the page anew; read the difference
"""

import builtins
import cmath
import math
import operator
import pathlib
import re

import numpy as np
import pytest
import scipy.special

from s2s import rules
from s2s.rules.series import FAMILIES

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "rules.md"
PLACES = {
    "numpy": np,
    "numpy.ndarray": np.ndarray,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.emath": np.emath,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
    **{f.__name__: f for f in FAMILIES.values()},
    "numpy.random": np.random,
    "numpy.random.Generator": np.random.Generator,
    "math": math,
    "cmath": cmath,
    "operator": operator,
    "builtins": builtins,
    "scipy.special": scipy.special,
}
HEAD = """# Functions with a derivative rule

Each serves reverse mode, forward mode, the tape and derivatives of higher order. Functions that are constant wherever
they have a derivative at all, such as comparisons and rounding, are listed apart. Of any other function s2s says that a
rule is missing, and how to add it; your own functions need none. The methods `reduce`, `accumulate`, `reduceat` and
`outer` of NumPy's elementwise functions of two arguments have theirs, too.

A function that is not here, of whatever library, gets a rule of yours in a few lines, in one of five forms. It serves
all modes, and what is compiled already notices it:

    @s2s.rules.elementwise(lib.softplus)          # the slope of each element; a tuple of them for several parameters
    def softplus(ans, x):
        return 1 - np.exp(-ans)

    @s2s.rules.decompose(lib.contrast)            # plain NumPy that computes the same
    def contrast(x):
        return np.max(x) - np.min(x)

    @s2s.rules.linear(lib.blurred, wrt="x")       # the transpose of what is linear: g is the cotangent of the result
    def blurred(g, ans, x, width=1):
        return (g + np.roll(g, -width, -1)) / 2

    @s2s.rules.vjp(lib.energy, wrt="x")           # the cotangent of x, and below it the tangent of the result
    def energy_vjp(g, ans, x, k):
        return g * 2 * k * x

    @s2s.rules.jvp(lib.energy, wrt="x")
    def energy_jvp(x_dot, ans, x, k):
        return np.sum(2 * k * x * x_dot)

    s2s.rules.zero_derivative(lib.level)

A method is named by its class: `@s2s.rules.elementwise(Model.predict, wrt="x")` with a body `(ans, self, x)`. Its calls
are known where they are compiled; in a function that is recorded, call it as `Model.predict(model, x)`.
"""


def found(place):
    """The rules of what stands in a module or class under a public name."""
    ours = {name: rules.find(getattr(place, name)) for name in dir(place) if not name.startswith("_")}
    return {name: rule for name, rule in ours.items() if rule is not None}


def page():
    lines = [HEAD]
    for title, place in PLACES.items():
        rows = found(place)
        lines += [f"## {title}", ""]
        for zero, label in ((False, "Differentiable"), (True, "Constant")):
            names = sorted(n for n, rule in rows.items() if rule.zero is zero)
            if names:
                lines += [f"{label}: " + ", ".join(f"`{n}`" for n in names), ""]
    return "\n".join(lines)


def listed():
    """What the page lists: the place, the name, and whether it is constant."""
    for section in PAGE.read_text().split("\n## ")[1:]:
        title, *lines = section.splitlines()
        for line in lines:
            kind, _, names = line.partition(": ")
            yield from ((title, name, kind == "Constant") for name in re.findall(r"`(\w+)`", names))


@pytest.mark.parametrize("title", PLACES)
def test_what_is_listed_has_its_rule(title):
    place = PLACES[title]
    rows = found(place)
    expected = {name: zero for where, name, zero in listed() if where == title and hasattr(place, name)}
    assert expected
    assert {n: rows[n].zero if n in rows else None for n in expected} == expected


def test_what_has_a_rule_is_listed():
    names = {(title, name) for title, name, _ in listed()}
    missing = [f"{t}.{n}" for t, place in PLACES.items() for n in found(place) if (t, n) not in names]
    # a later NumPy or SciPy may have more names for the same functions
    assert len(missing) <= 20, f"run python tests/rules/test_listed.py, and read the difference: {missing}"


def test_the_page_lists_what_there_is():
    counts = {title: sum(where == title for where, _, _ in listed()) for title in PLACES}
    assert counts["numpy"] >= 300 and counts["math"] >= 45 and counts["scipy.special"] >= 75


if __name__ == "__main__":
    PAGE.write_text(page())
