"""Values of derivatives: kinks and ties, broadcasting, complex numbers, joins and splits."""

import numpy as np

from tests.autograd.semantics.table import X, case

Z = np.array([1 + 2j, 3 - 1j])


def slope(t, f, x, weights=None):
    v = t.leaf(x)
    y = f(v)
    weights = np.ones(y.shape, str(y.dtype).removeprefix("torch.")) if weights is None else np.asarray(weights)
    (g,) = t.grad(y, v, t.const(weights))
    return t.value(g)


@case("abs at zero", [-1.0, 0.0, 1.0])
def abs_at_zero(t):
    return list(slope(t, t.abs, [-2.0, 0.0, 3.0]))


@case("maximum shares ties evenly", [[0.5, 1.0], [0.5, 0.0]])
def maximum_ties(t):
    a, b = t.leaf([1.0, 3.0]), t.leaf([1.0, 2.0])
    return [list(t.value(g)) for g in t.grad(t.sum(t.maximum(a, b)), [a, b])]


@case("max over all shares ties evenly", [0.0, 0.5, 0.5])
def max_ties(t):
    return list(slope(t, lambda v: t.max(v), [1.0, 3.0, 3.0]))


@case("sqrt at zero with a zero cotangent", [0.0, 0.25], torch=[np.nan, 0.25], differs="zero cotangents win")
def sqrt_zero(t):
    return list(slope(t, lambda v: t.sqrt(v), [0.0, 4.0], [0.0, 1.0]))


@case("where hides the branch that is not taken", [1.0, 0.25], torch=[np.nan, 0.25], differs="zero cotangents win")
def where_hides(t):
    return list(slope(t, lambda v: t.where(v > 0, t.sqrt(v), v), [0.0, 4.0]))


@case("log of zero with a zero cotangent", [0.0, 0.5], torch=[np.nan, 0.5], differs="zero cotangents win")
def log_zero(t):
    return list(slope(t, lambda v: t.log(v), [0.0, 2.0], [0.0, 1.0]))


@case(
    "clip inside, outside and on the bounds", [0.0, 0.5, 1.0, 0.5, 0.0],
    torch=[0.0, 1.0, 1.0, 1.0, 0.0], differs="kinks and ties",
)  # fmt: skip
def clip(t):
    return list(slope(t, lambda v: t.clip(v, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0]))


@case("sign and floor have the slope zero", [[0.0, 0.0], [0.0, 0.0]])
def steps(t):
    return [list(slope(t, lambda v: f(v) + 0 * v, [1.5, -2.5])) for f in (t.sign, t.floor)]


@case("x ** 0 and 0 ** 2", [[0.0, 0.0], [0.0, 4.0]])
def powers(t):
    return [list(slope(t, lambda v: v**n, [0.0, 2.0])) for n in (0, 2)]


@case("a variable exponent", [np.log(2.0) * 2**X])
def exponent(t):
    return [slope(t, lambda v: 2.0**v, X)]


@case("broadcasting sums back", [np.full((3, 1), 4.0), np.full((1, 4), 3.0)])
def broadcast(t):
    a, b = t.leaf(np.ones((3, 1))), t.leaf(np.ones((1, 4)))
    return [t.value(g) for g in t.grad(t.sum(a * b), [a, b])]


@case("a scalar with a vector", [10.0, np.full(3, 2.0)])
def scalar_and_vector(t):
    s, x = t.leaf(2.0), t.leaf(X)
    gs, gx = t.grad(t.sum(s * x), [s, x])
    return [t.value(gs), t.value(gx)]


@case("matrix products of each rank", [[np.outer([1, 1], X)[:, :2], [4.0, 6.0]], 2.0])
def matmul(t):
    w, x = t.leaf([[1.0, 2.0], [3.0, 4.0]]), t.leaf(X[:2])
    gw, gx = t.grad(t.sum(w @ x), [w, x])
    (gd,) = t.grad(x @ x, x)
    return [[t.value(gw), list(t.value(gx))], float(t.value(gd)[0]) / 2]


@case("indexing gathers and adds up", [2.0, 0.0, 1.0])
def gather(t):
    return list(slope(t, lambda v: v[[0, 0, 2]], X))


@case("a mask", [0.0, 1.0, 1.0])
def mask(t):
    return list(slope(t, lambda v: v[v > 2.5], X))


@case("a negative step", [0.0, 0.0, 1.0])
def negative(t):
    return list(slope(t, lambda v: v[-1:] * 1.0, X))


@case("stack and concatenate", [np.full(3, 6.0), np.full(3, 1.0)])
def joins(t):
    x, y = t.leaf(X), t.leaf(X)
    out = t.sum(t.stack([x, y, x]) * t.const([[1.0], [1.0], [2.0]])) + t.sum(t.concatenate([x, x, x]))
    return [t.value(g) for g in t.grad(out, [x, y])]


@case("cumsum and prod", [[3.0, 2.0, 1.0], [15.0, 10.0, 6.0]])
def cumulated(t):
    return [list(slope(t, lambda v: t.cumsum(v, 0), X)), list(slope(t, lambda v: t.prod(v), X))]


@case("prod with one zero, and with two", [[6.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
def prod_zeros(t):
    return [list(slope(t, lambda v: t.prod(v), x)) for x in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0])]


@case("mean", [np.full(3, 1 / 3)])
def mean(t):
    return [slope(t, lambda v: t.mean(v), X)]


@case("sort sends gradients back to where they came from", [30.0, 10.0, 20.0])
def sorting(t):
    return list(slope(t, lambda v: t.sort(v), [3.0, 1.0, 2.0], [10.0, 20.0, 30.0]))


@case("arctan2", [[0.3, -0.1]])
def arctan2(t):
    y, x = t.leaf(1.0), t.leaf(3.0)
    return [[float(t.value(g)) for g in t.grad(t.arctan2(y, x), [y, x])]]


@case("min shares ties evenly", [0.5, 0.5, 0.0])
def min_ties(t):
    return list(slope(t, lambda v: t.min(v), [1.0, 1.0, 3.0]))


@case("minimum shares ties evenly", [[0.5, 0.0], [0.5, 1.0]])
def minimum_ties(t):
    a, b = t.leaf([1.0, 3.0]), t.leaf([1.0, 2.0])
    return [list(t.value(g)) for g in t.grad(t.sum(t.minimum(a, b)), [a, b])]


@case("outer, dot and trace", [[6.0, 6.0, 6.0], [2.0, 3.0, 5.0], [1.0, 0.0, 0.0, 1.0]])
def products(t):
    return [
        list(slope(t, lambda v: t.outer(v, t.const([1.0, 2.0, 3.0])), X)),
        list(slope(t, lambda v: t.dot(v, t.const(X)), X)),
        list(slope(t, lambda v: t.trace(v), np.ones((2, 2))).ravel()),
    ]


# --- complex numbers: gradients are conjugated ---


@case("abs of complex numbers", Z / np.abs(Z))
def complex_abs(t):
    return slope(t, lambda v: t.abs(v), Z)


@case("the real and the imaginary part", [np.ones(2, complex), np.full(2, 1j)])
def parts(t):
    return [slope(t, lambda v: t.real(v), Z), slope(t, lambda v: t.imag(v), Z)]


@case("a holomorphic function: the conjugate of the derivative", np.conj(2 * Z))
def holomorphic(t):
    return slope(t, lambda v: v * v, Z)


@case("a complex seed", np.conj(2 * Z) * 1j)
def complex_seed(t):
    return slope(t, lambda v: v * v, Z, [1j, 1j])


@case("conj", np.full(2, -1j))
def conjugated(t):
    return slope(t, lambda v: t.conj(v), Z, [1j, 1j])


@case("a real leaf through complex numbers has a real gradient", ["float64", 2 * X])
def real_through_complex(t):
    x = t.leaf(X)
    z = x * 1j
    (g,) = t.grad(t.sum(t.real(z * t.conj(z))), x)
    return [str(g.dtype).removeprefix("torch."), t.value(g)]


@case("real and complex factors", [np.array([1.0, 3.0]), np.full(2, 2.0 + 0j)])
def mixed(t):
    x, z = t.leaf([2.0, 2.0]), t.leaf(Z)
    gx, gz = t.grad(t.sum(t.real(x * z)), [x, z])
    return [t.value(gx), t.value(gz)]


@case("exp of complex numbers", np.conj(np.exp(Z)))
def complex_exp(t):
    return slope(t, lambda v: t.exp(v), Z)


@case("second order of a complex function", 6 * np.conj(Z))
def complex_second(t):
    z = t.leaf(Z)
    one = t.const(np.ones(2, complex))
    (g,) = t.grad(z**3, z, one, create_graph=True)
    (h,) = t.grad(g, z, one)
    return t.value(h)


@case("a hook sees the conjugate convention", np.conj(2 * Z))
def complex_hook(t):
    seen = []
    z = t.leaf(Z)
    h = z * 1.0
    h.register_hook(lambda g: seen.append(t.value(g)))
    t.backward(h * h, t.const(np.ones(2, complex)))
    return seen[0]


@case("a Function gets and returns the conjugate convention", np.conj(2 * Z))
def complex_function(t):
    class Square(t.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * t.conj(2 * z)

    return slope(t, Square.apply, Z)
