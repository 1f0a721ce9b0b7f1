"""How rules are written down, found, bound and replaced."""

from __future__ import annotations

import inspect
import math
import operator
import threading
from typing import Any

import numpy as np
import pytest

from s2s import rules
from s2s.rules import registry

OURS = [f for f in rules.supported() if getattr(rules.find(f).model, "__module__", "").startswith("s2s.rules")]


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def scaled(x: Any, scale: float = 2.0, *, shift: float = 0.0) -> Any:
    return x * scale + shift


def test_functions_methods_attributes_and_operators_have_rules() -> None:
    for function in (np.sum, np.ndarray.sum, np.ndarray.T, operator.mul, np.multiply, math.sin, abs):
        assert rules.find(function) is not None
    assert rules.find(np.sum) is rules.find(np.ndarray.sum)


def test_what_has_no_rule_is_not_found() -> None:
    assert rules.find(softplus) is None
    assert rules.find([]) is None  # unhashable


def test_calls_bind_as_they_bind_to_the_function() -> None:
    rule = rules.find(np.sum)
    a = np.ones(3)
    assert list(rule.bind((a,))) == ["a", "axis", "dtype", "out", "keepdims", "initial", "where"]
    assert rule.bind((a, 0), {"keepdims": True})["keepdims"] is True
    assert rule.bind((), {"a": a, "axis": 1})["axis"] == 1
    for args, kwargs in [((), {}), ((a,), {"a": a}), ((a,), {"sideways": 1}), ((a,) * 9, {})]:
        with pytest.raises(TypeError):
            rule.bind(args, kwargs)


def test_keywords_of_ufuncs_that_leave_the_derivative_alone_are_dropped() -> None:
    assert rules.find(np.exp).bind((1.0,), {"dtype": np.float32}) == {"x": 1.0}
    with pytest.raises(TypeError):
        rules.find(np.exp).bind((1.0,), {"where": np.array([True])})


def test_variadic_parameters_spread_again() -> None:
    rule = rules.find(np.ndarray.reshape)
    a = np.ones((2, 3))
    bound = rule.bind((a, 3, 2), {"order": "F"})
    assert bound["shape"] == (3, 2)
    assert rule.spread(bound) == ([a, 3, 2], {"order": "F", "copy": None})


def test_differentiable_names_the_parameters_with_a_derivative() -> None:
    assert rules.find(np.where).differentiable == ("x", "y")
    assert rules.find(np.where).zeros == {"condition"}
    assert rules.find(np.floor).zero


def test_elementwise_rules_give_products_of_partials() -> None:
    @rules.elementwise(softplus)
    def slope(ans: Any, x: Any) -> Any:
        return 1 - np.exp(-ans)

    rule = rules.find(softplus)
    x = np.array([[0.0, 1.0]])
    ans = softplus(x)
    np.testing.assert_allclose(rule.partials["x"](ans, x), 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(rule.vjps["x"](2.0, ans, x), 2 / (1 + np.exp(-x)))
    np.testing.assert_allclose(rule.jvps["x"](3.0, ans, x), 3 / (1 + np.exp(-x)))


def test_linear_rules_use_the_function_itself_forwards() -> None:
    @rules.linear(scaled, wrt="x")
    def transpose(g: Any, ans: Any, x: Any, scale: float = 2.0, *, shift: float = 0.0) -> Any:
        return g * scale

    rule = rules.find(scaled)
    assert rule.jvps["x"](5.0, 0.0, 1.0, 3.0) == 15.0
    assert rule.linear == {"x"}


def test_a_later_rule_replaces_the_earlier_and_is_noticed() -> None:
    def twice(x: float, y: float) -> float:
        return 2 * x * y

    rules.vjp(twice, wrt="x")(lambda g, ans, x, y: 2 * g * y)
    rules.jvp(twice, wrt="x")(lambda x_dot, ans, x, y: 2 * x_dot * y)
    rules.vjp(twice, wrt="y")(lambda g, ans, x, y: 2 * g * x)
    assert rules.find(twice).differentiable == ("x", "y")
    before = registry.version
    rules.vjp(twice, wrt="x")(lambda g, ans, x, y: 7 * g)
    assert registry.version > before
    rule = rules.find(twice)
    assert rule.vjps["x"](1.0, 0.0, 1.0, 1.0) == 7.0
    assert "x" not in rule.jvps, "the tangent of another hand must not stay"
    assert rule.vjps["y"](1.0, 0.0, 3.0, 1.0) == 6.0
    rules.zero_derivative(twice)
    assert rules.find(twice).zero


def test_rules_are_registered_from_several_threads() -> None:
    def f(x: float, y: float, z: float) -> float:
        return x * y * z

    def register(name: str) -> None:
        rules.vjp(f, wrt=name)(lambda g, ans, x, y, z: g)

    threads = [threading.Thread(target=register, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rules.find(f).differentiable == ("x", "y", "z")


def test_every_rule_serves_both_modes_by_the_same_parameters() -> None:
    for function in OURS:
        rule = rules.find(function)
        assert set(rule.vjps) == set(rule.jvps), rule.name


def test_every_rule_has_the_parameters_of_its_function() -> None:
    for function in OURS:
        rule = rules.find(function)
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        if rule.zero or isinstance(function, np.ufunc) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
            continue
        own = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        missing = own - set(rule.signature.parameters) - {"self", "mod"}
        assert not missing, (rule.name, missing)
