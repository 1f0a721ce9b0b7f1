"""The families of `numpy.polynomial`: power, Chebyshev, Legendre, Laguerre and both Hermite series, in one table.

A family is a recurrence, `p[k + 1] = (a x + b) p[k] - c p[k - 1]`. The other operations are linear in the coefficients,
so that NumPy's own functions of unit series are their matrices. NumPy drops zeros at the end of sums and products;
sizes are therefore found from values, and what was dropped has no slope.
"""

import functools

import numpy as np
import numpy.polynomial as npp

from s2s import kinds as K
from s2s.errors import MissingRuleError
from s2s.rules.kinds_of import as_array
from s2s.rules.registry import decompose, elementwise, jvp, vjp, zero_derivative

# The steps (a, b, c) from p[k] to p[k + 1]. DLMF, table 18.9.1.
STEPS = {
    "poly": lambda k: (1.0, 0.0, 0.0),
    "cheb": lambda k: (2.0, 0.0, 1.0) if k else (1.0, 0.0, 0.0),
    "leg": lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1)),
    "lag": lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
    "herm": lambda k: (2.0, 0.0, 2.0 * k),
    "herme": lambda k: (1.0, 0.0, float(k)),
}
FAMILIES = {
    "poly": npp.polynomial, "cheb": npp.chebyshev, "leg": npp.legendre, "lag": npp.laguerre, "herm": npp.hermite,
    "herme": npp.hermite_e,
}  # fmt: skip

# --- sizes, and matrices of linear operations -------------------------------------------------------------------


def effective(c):
    """The number of coefficients of a series but for zeros at its end."""
    return int(max(np.flatnonzero(np.asarray(c) != 0)[-1:] + 1, default=1))


def shortfall(c, other):
    """The padding that makes a series as long as another."""
    return (0, max(np.size(other) - np.size(c), 0))


def product_size(c1, c2):
    """The number of coefficients of a product."""
    return effective(c1) + effective(c2) - 1 if np.any(c1) and np.any(c2) else 1


def integral_size(c):
    """The number of coefficients of an integral: that of nothing is a constant."""
    return 1 if len(c) == 1 and not np.any(c) else len(c) + 1


def quotient_sizes(div, c1, c2):
    """The numbers of coefficients of quotient and remainder."""
    return tuple(map(len, div(c1, c2)))


zero_derivative(effective, shortfall)
zero_derivative(product_size, integral_size, kind=lambda *args: K.Int())
zero_derivative(quotient_sizes, kind=lambda *args: K.Tuple((K.Int(), K.Int())))


def precision(*likes):
    """The dtype of a matrix that is to be multiplied with such series."""
    return np.result_type(*(np.float64 if np.result_type(like).kind in "iub" else like for like in likes)).type


def constant(ndim):
    """The kind of a matrix that has the dtype of the series among the arguments of the function that gives it."""

    def kind(*args):
        dtypes = [K.dtype_of(as_array(arg)) for arg in args if not isinstance(arg, (K.Static, K.Int))]
        return K.UNKNOWN if any(dtype is None for dtype in dtypes) else K.Array(np.dtype(precision(*dtypes)), ndim)

    return kind


def matrix_of(function, size, like):
    """The matrix of a function that is linear in a series of some size."""
    return function(np.eye(size, dtype=precision(like)))


def padded(series, size):
    """A series with zeros at its end."""
    return np.append(series, np.zeros(size - len(series)))


def conversion(function, size, like):
    """The matrix of a conversion of one series of some size into one of the same size."""
    return np.stack([padded(function(unit), size) for unit in np.eye(size)], axis=1).astype(precision(like))


@functools.lru_cache(maxsize=64)
def unit_products(mul, m, n):
    """The coefficient k of the product of the unit series i and j."""
    rows = [[padded(mul(x, y), m + n - 1) for y in np.eye(n)] for x in np.eye(m)]
    return np.array(rows)


def product_table(mul, m, n, c1, c2):
    """The same in the dtype of some series."""
    return unit_products(mul, m, n).astype(precision(c1, c2))


def times_x(mul, line, size, like):
    """The matrix of the product of a series of some size with x."""
    return np.einsum("ijk,j->ki", unit_products(mul, size, 2), padded(line(0, 1), 2)).astype(precision(like))


def companion_parts(companion, size, like):
    """A companion matrix of no lower coefficients, and beside it what these are scaled by in its last column."""
    still, moved = companion([0.0] * (size - 1) + [1.0]), companion([1.0] * size)
    parts = np.concatenate([still, still[:, -1:] - moved[:, -1:]], axis=1)
    return parts.astype(precision(like))


zero_derivative(matrix_of, conversion, times_x, companion_parts, kind=constant(2))
zero_derivative(product_table, kind=constant(3))


def no_extras(full):
    """Refuse the further results of a fit."""
    if full:
        raise MissingRuleError("the residuals of a polynomial fit have no derivative")


def degrees(deg):
    """The degrees that a fit has."""
    return np.arange(deg + 1) if np.ndim(deg) == 0 else np.sort(deg)


def placed(deg, like):
    """The matrix that puts the coefficients of a fit of some degrees in their places."""
    given = degrees(deg)
    return np.eye(given[-1] + 1, dtype=precision(like))[:, given]


def relative_cutoff(x, rcond):
    """Which singular values count as zero in a fit."""
    return np.size(x) * np.finfo(np.result_type(x, np.float16)).eps if rcond is None else rcond


zero_derivative(no_extras, degrees, relative_cutoff)
zero_derivative(placed, kind=constant(2))

# --- what all families share ------------------------------------------------------------------------------------


def shared(body):
    """A part of several decompositions: a function whose derivative is that of its body."""
    return decompose(body)(body)


@shared
def quotient(mul, div, c1, c2):
    """Quotient and remainder: the leading coefficients of c1 are those of the quotient times c2."""
    c1, c2 = np.asarray(c1), np.asarray(c2)
    sizes = quotient_sizes(div, c1, c2)
    c1, c2 = c1[: effective(c1)], c2[: effective(c2)]
    m, n = len(c1), len(c2)
    if m < n:
        return c1[:1] * 0, c1
    product = np.einsum("ijk,j->ki", product_table(mul, m - n + 1, n, c1, c2), c2)
    found = np.linalg.solve(product[n - 1 :], c1[n - 1 :])
    rest = c1[: n - 1] - product[: n - 1] @ found
    return found, np.pad(rest, (0, 1))[: sizes[1]]


@shared
def fitted(columns, x, y, deg, rcond, w):
    """Least squares by columns of all degrees, each of them scaled to length one."""
    columns = columns[:, degrees(deg)]
    values = np.asarray(y)
    if w is not None:
        columns = columns * np.expand_dims(w, -1)
        values = values * w if np.ndim(y) == 1 else values * np.expand_dims(w, -1)
    scale = np.sqrt(np.sum(np.real(columns * np.conj(columns)), axis=0))
    found = np.linalg.pinv(columns / scale, relative_cutoff(x, rcond)) @ values
    found = found / scale if np.ndim(y) == 1 else found / np.expand_dims(scale, -1)
    if np.ndim(deg) == 0:
        return found
    return placed(deg, columns) @ found


def root_slopes(vander, val, der, roots, c):
    """The derivative of each root by each coefficient: the series stays zero at a root that moves."""
    columns = vander(roots, len(c) - 1)
    return -columns / np.expand_dims(val(roots, der(c)), -1)


# --- the table --------------------------------------------------------------------------------------------------


def register(name, module):
    """The rules of one family, but for those of `weight` and of conversions."""
    step = STEPS[name]
    add, sub, mul, mulx, div, power, line, fromroots, roots, companion = (
        getattr(module, name + operation)
        for operation in ("add", "sub", "mul", "mulx", "div", "pow", "line", "fromroots", "roots", "companion")
    )
    der, integ, val, vander, fit = (
        getattr(module, name + operation) for operation in ("der", "int", "val", "vander", "fit")
    )

    # --- sums and products

    @decompose(add)
    def series_add(c1, c2):
        total = np.pad(c1, shortfall(c1, c2)) + np.pad(c2, shortfall(c2, c1))
        return total[: effective(total)]

    @decompose(sub)
    def series_sub(c1, c2):
        total = np.pad(c1, shortfall(c1, c2)) - np.pad(c2, shortfall(c2, c1))
        return total[: effective(total)]

    @decompose(mul)
    def series_mul(c1, c2):
        c1, c2 = np.asarray(c1), np.asarray(c2)
        size = product_size(c1, c2)
        c1, c2 = c1[: effective(c1)], c2[: effective(c2)]
        return np.einsum("ijk,i,j->k", product_table(mul, len(c1), len(c2), c1, c2), c1, c2)[:size]

    @decompose(mulx)
    def series_mulx(c):
        c = np.asarray(c)
        size = integral_size(c)
        c = c[: effective(c)]
        return (times_x(mul, line, len(c), c) @ c)[:size]

    @decompose(div)
    def series_div(c1, c2):
        return quotient(mul, div, c1, c2)

    @decompose(power)
    def series_pow(c, pow, maxpower=16):
        c = np.asarray(c)
        raised = np.ones_like(c[:1])
        for _ in range(pow):
            raised = mul(raised, c)
        return raised

    # --- derivatives and integrals

    @decompose(der)
    def series_der(c, m=1, scl=1, axis=0):
        c = np.moveaxis(np.asarray(c), axis, 0)
        for _ in range(m):
            c = np.tensordot(matrix_of(der, len(c), c), c * scl, axes=1)
        return np.moveaxis(c, 0, axis)

    @decompose(integ)
    def series_int(c, m=1, k=(), lbnd=0, scl=1, axis=0):
        c, constants = np.moveaxis(np.asarray(c), axis, 0), np.atleast_1d(k)
        for i in range(m):
            size = integral_size(c)
            c = np.tensordot(matrix_of(integ, len(c), c), c * scl, axes=1)[:size]
            start = -val(lbnd, c) if i >= len(constants) else constants[i] - val(lbnd, c)
            c = np.concatenate([c[:1] + start, c[1:]])
        return np.moveaxis(c, 0, axis)

    # --- values

    @decompose(vander)
    def series_vander(x, deg):
        x = np.atleast_1d(x)
        values = [np.ones_like(x)]
        for k in range(deg):
            a, b, c = step(k)
            values.append((a * x + b) * values[k] - c * values[k - 1])
        return np.stack(values, axis=-1)

    @decompose(getattr(module, name + "vander2d"))
    def series_vander2d(x, y, deg):
        across, down = np.expand_dims(vander(x, deg[0]), -1), np.expand_dims(vander(y, deg[1]), -2)
        return np.reshape(across * down, np.shape(across)[:-2] + (-1,))

    @decompose(getattr(module, name + "vander3d"))
    def series_vander3d(x, y, z, deg):
        across = np.expand_dims(vander(x, deg[0]), (-1, -2))
        down, deep = np.expand_dims(vander(y, deg[1]), (-1, -3)), np.expand_dims(vander(z, deg[2]), (-2, -3))
        return np.reshape(across * down * deep, np.shape(across)[:-3] + (-1,))

    @decompose(val)
    def series_val(x, c, tensor=True):
        x, c = np.asarray(x), np.asarray(c)
        columns = vander(np.ravel(x), len(c) - 1)
        if tensor:
            return np.reshape(np.tensordot(c, columns, axes=(0, 1)), np.shape(c)[1:] + np.shape(x))
        value = c[0] * np.reshape(columns[:, 0], np.shape(x))
        for k in range(1, len(c)):
            value = value + c[k] * np.reshape(columns[:, k], np.shape(x))
        return value

    @decompose(getattr(module, name + "val2d"))
    def series_val2d(x, y, c):
        return val(y, val(x, c), False)

    @decompose(getattr(module, name + "val3d"))
    def series_val3d(x, y, z, c):
        return val(z, val(y, val(x, c), False), False)

    @decompose(getattr(module, name + "grid2d"))
    def series_grid2d(x, y, c):
        return val(y, val(x, c))

    @decompose(getattr(module, name + "grid3d"))
    def series_grid3d(x, y, z, c):
        return val(z, val(y, val(x, c)))

    @decompose(fit)
    def series_fit(x, y, deg, rcond=None, full=False, w=None):
        no_extras(full)
        return fitted(vander(x, np.max(deg)), x, y, deg, rcond, w)

    # --- roots

    @decompose(fromroots)
    def series_fromroots(roots):
        roots = np.asarray(roots)
        value = np.ones_like(roots, shape=(1,))
        for i in range(len(roots)):
            value = times_x(mul, line, i + 1, roots) @ value - np.pad(roots[i] * value, (0, 1))
        return value

    @vjp(roots, wrt="c", kind=lambda c: K.UNKNOWN)
    def series_roots_vjp(g, ans, c):
        c_bar = g @ root_slopes(vander, val, der, ans, c)
        return c_bar if np.iscomplexobj(c) else np.real(c_bar)

    @jvp(roots, wrt="c")
    def series_roots_jvp(c_dot, ans, c):
        return root_slopes(vander, val, der, ans, c) @ c_dot

    @decompose(companion)
    def series_companion(c):
        c = np.asarray(c)
        parts = companion_parts(companion, len(c), c)
        last = parts[:, -2] - parts[:, -1] * c[:-1] / c[-1]
        return np.concatenate([parts[:, :-2], np.expand_dims(last, -1)], axis=1)


@shared
def converted(convert, c):
    """A series of one family as one of another."""
    c = np.asarray(c)
    c = c[: effective(c)]
    return conversion(convert, len(c), c) @ c


def register_conversions(to_power, from_power):
    """The rules of a family's conversions into power series and back."""

    @decompose(to_power)
    def series_to_power(c):
        return converted(to_power, c)

    @decompose(from_power)
    def series_from_power(pol):
        return converted(from_power, pol)


for _name, _module in FAMILIES.items():
    register(_name, _module)
    if _name != "poly":
        register_conversions(getattr(_module, f"{_name}2poly"), getattr(_module, f"poly2{_name}"))


# --- values of power series by their roots ----------------------------------------------------------------------


@decompose(npp.polynomial.polyvalfromroots)
def polyvalfromroots(x, r, tensor=True):
    x, r = np.asarray(x), np.asarray(r)
    if tensor:
        r = np.reshape(r, np.shape(r) + (1,) * np.ndim(x))
    return np.prod(x - r, axis=0)


# --- weights ----------------------------------------------------------------------------------------------------


@elementwise(npp.chebyshev.chebweight)
def chebweight(ans, x):
    return ans * x / ((1 - x) * (1 + x))


@elementwise(npp.laguerre.lagweight)
def lagweight(ans, x):
    return -ans


@elementwise(npp.hermite.hermweight)
def hermweight(ans, x):
    return -2 * x * ans


@elementwise(npp.hermite_e.hermeweight)
def hermeweight(ans, x):
    return -x * ans


zero_derivative(npp.legendre.legweight)
