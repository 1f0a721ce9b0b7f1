"""A source runs where it is pasted beside its function: it names and makes all that is not the user's."""

import numpy as np
import pytest

import s2s


def with_einsum(d, s):
    return np.einsum("i,ij,j->", d, s, d)


def with_an_array_default(d, t=np.array([0.1, 1 / 3, 2e-9])):
    return np.sum(np.sin(d) * t)


def with_a_number_default(d, k=0.1):
    return np.sum(np.cos(d) * k)


def with_one_of_several_partials(d, t=0.3):
    return np.sum(np.arctan2(t, d) ** 2)


@pytest.mark.parametrize("f", [with_one_of_several_partials, with_einsum, with_an_array_default, with_a_number_default])
def test_sources_run_where_they_are_pasted(f):
    rng = np.random.default_rng(6)
    args = [rng.normal(size=3), rng.normal(size=(3, 3))][: 2 if f is with_einsum else 1]
    df = s2s.grad(f, strict=True)
    pasted = {"np": np}
    exec(df.source(*args), pasted)
    np.testing.assert_array_equal(pasted[f"{f.__name__}_grad"](*args), df(*args))
