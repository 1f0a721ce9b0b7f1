"""Random draws as functions of the parameters of their distribution: the number that was drawn moves with them.

A draw is a function of its parameters and of noise that does not depend on them (Kingma and Welling, "Auto-encoding
variational Bayes", 2014); what the noise was follows from the draw. The functions of `numpy.random` have the
formulas of the methods of generators.
"""

import numpy as np

from s2s import kinds as K
from s2s.rules.kinds_of import count
from s2s.rules.registry import elementwise


def methods(*names):
    """The methods of both kinds of generators."""
    return [getattr(cls, name) for cls in (np.random.Generator, np.random.RandomState) for name in names]


def functions(*names):
    """The functions of the module, which draw from a generator that all share."""
    return [getattr(np.random, name) for name in names]


def drawn(*kinds):
    """The kind of draws: as many dimensions as a size says, else those of the parameters together."""
    *parameters, size = kinds
    ndims = [K.ndim_of(k) for k in parameters if not isinstance(k, K.Object)]
    ndim = count(size) if size != K.NONE else None if None in ndims else max(ndims)
    return K.UNKNOWN if ndim is None else K.Array(np.dtype(float), ndim) if ndim else K.FLOAT


# --- location and scale -----------------------------------------------------------------------------------------

LOCATED = ("normal", "laplace", "logistic", "gumbel")


@elementwise(*methods(*LOCATED), wrt=("loc", "scale"), kind=drawn)
def located(ans, self, loc=0.0, scale=1.0, size=None):
    return 1, (ans - loc) / scale


@elementwise(*functions(*LOCATED), wrt=("loc", "scale"), kind=drawn)
def located_by_name(ans, loc=0.0, scale=1.0, size=None):
    return 1, (ans - loc) / scale


@elementwise(*methods("exponential", "rayleigh"), wrt="scale", kind=drawn)
def scaled(ans, self, scale=1.0, size=None):
    return ans / scale


@elementwise(*functions("exponential", "rayleigh"), wrt="scale", kind=drawn)
def scaled_by_name(ans, scale=1.0, size=None):
    return ans / scale


@elementwise(*methods("gamma"), wrt="scale", kind=drawn)
def gamma(ans, self, shape, scale=1.0, size=None):
    return ans / scale


@elementwise(*functions("gamma"), wrt="scale", kind=drawn)
def gamma_by_name(ans, shape, scale=1.0, size=None):
    return ans / scale


@elementwise(*methods("lognormal"), wrt=("mean", "sigma"), kind=drawn)
def lognormal(ans, self, mean=0.0, sigma=1.0, size=None):
    return ans, ans * (np.log(ans) - mean) / sigma


@elementwise(*functions("lognormal"), wrt=("mean", "sigma"), kind=drawn)
def lognormal_by_name(ans, mean=0.0, sigma=1.0, size=None):
    return ans, ans * (np.log(ans) - mean) / sigma


# --- bounds -----------------------------------------------------------------------------------------------------


@elementwise(*methods("uniform"), wrt=("low", "high"), kind=drawn)
def uniform(ans, self, low=0.0, high=1.0, size=None):
    return (high - ans) / (high - low), (ans - low) / (high - low)


@elementwise(*functions("uniform"), wrt=("low", "high"), kind=drawn)
def uniform_by_name(ans, low=0.0, high=1.0, size=None):
    return (high - ans) / (high - low), (ans - low) / (high - low)


# --- exponents --------------------------------------------------------------------------------------------------


@elementwise(*methods("weibull", "power"), wrt="a", kind=drawn)
def powered(ans, self, a, size=None):
    return -ans * np.log(ans) / a


@elementwise(*functions("weibull", "power"), wrt="a", kind=drawn)
def powered_by_name(ans, a, size=None):
    return -ans * np.log(ans) / a


@elementwise(*methods("pareto"), wrt="a", kind=drawn)
def pareto(ans, self, a, size=None):
    return -(1 + ans) * np.log1p(ans) / a


@elementwise(*functions("pareto"), wrt="a", kind=drawn)
def pareto_by_name(ans, a, size=None):
    return -(1 + ans) * np.log1p(ans) / a
