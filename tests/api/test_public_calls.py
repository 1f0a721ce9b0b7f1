"""Calls of the public functions that do not fit are refused under the name that the user wrote."""

import pytest

import s2s
from s2s.errors import ArgumentError


def f(x, y=1.0):
    return x * y


@pytest.mark.parametrize("name", ["grad", "value_and_grad"])
@pytest.mark.parametrize(
    ("args", "keywords", "message"),
    [
        ((f,), {"argnum": 0}, r"unexpected keyword argument 'argnum'[^_]*write argnums for argnum"),
        ((), {"argnum": 0}, "write argnums for argnum"),
        ((f,), {"hasaux": True}, "write has_aux for hasaux"),
        ((f,), {"mode": "x"}, "unexpected keyword argument 'mode'"),
        ((f, 0, False, True), {}, "too many positional arguments"),
        ((f, 0), {"argnums": 0}, "multiple values for argument 'argnums'"),
    ],
)
def test_what_was_meant_is_said(name, args, keywords, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        getattr(s2s, name)(*args, **keywords)
    assert str(caught.value).startswith(f"{name}: ")
    assert "it takes f, argnums, has_aux, backend, strict" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["elementwise_grad", "jacobian", "jacrev", "jacfwd", "hessian", "vjp", "jvp", "linearize"]
)
def test_all_name_themselves(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'argnum'"):
        getattr(s2s, name)(f, argnum=0)
