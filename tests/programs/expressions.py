"""What random programs compute with: templates of expressions by the type of their value, and functions that they call.

In a template `{s}` stands for a number, `{a}` for an array of four, `{m}` for a matrix of four by four; the same letter
twice is two draws, `{s0}` the same one wherever it stands in a template.
"""

from __future__ import annotations

SIZE = 4

SCALAR = {
    "operator": [
        "{s} + {s}", "{s} - {s}", "{s} * {s}", "{s} / (2.0 + {s0} * {s0})", "0.5 * {s} + 0.25 * {s}", "-{s}",
        "{s} ** 2",
    ],
    "math": [
        "math.sin({s})", "math.cos({s})", "math.tanh({s})", "math.exp(-{s0} * {s0})", "math.sqrt(1.0 + {s0} * {s0})",
        "math.hypot({s}, 1.0)", "math.atan2({s}, 2.0)",
    ],
    "numpy number": [
        "np.tanh({s})", "np.sqrt(1.0 + {s0} * {s0})", "np.float64(0.7) * {s}", "np.sin({s}) * {s}",
        "np.log1p({s0} * {s0})",
    ],
    "builtin": [
        "abs({s})", "max({s}, {s})", "min({s}, {s}, 0.4)", "sum([{s}, {s}, 0.1])", "float({s}) * 0.3", "pow({s}, 3)",
        "sum({a})",
    ],
    "reduce": [
        "np.sum({a})", "np.mean({a})", "{a}.sum()", "{a}.mean()", "np.dot({a}, {a})", "np.max({a})", "{a} @ {a}",
        "np.linalg.norm({a})", "np.prod({a})", "{a}.max()", "np.var({a})", "np.sum({m})", "np.trace({m})",
    ],
    "item": ["{a}[1]", "{a}[-1]", "{a}[n]", "{a}[picks[1]]", "{m}[0, 1]", "{m}[n, -1]", "{m}[2][1]", "{a}[1:][0]"],
    "container": [
        "pair[0]", "pair[1][2]", "knobs['rate']", "knobs['bias'][0]", "rows[1][0] * {s}", "rates['x'] + {s}",
        "weights[0]",
    ],
    "constant": ["0.35", "1", "-0.8", "n", "len(rows) * 0.1"],
    "call": [
        "blend({s}, {s})", "blend({s}, q={s}, weight=0.3)", "bump({s})", "total({a}, {s})", "search({a}, {s})",
        "horner({s}, 0.3, {s})", "weigh(pair, {s})", "scaled({s}, gain={s})", "meet({s}, {s}, n)", "shrink({a})[1]",
    ],
}  # fmt: skip

ARRAY = {
    "array operator": [
        "{a} + {a}", "{a} - {s}", "{s} * {a}", "{a} * {a}", "{a} / (2.0 + {a0} * {a0})", "-{a}", "{a} ** 2",
        "{s} - {a}",
    ],
    "array function": [
        "np.sin({a})", "np.tanh({a})", "np.exp(-{a0} * {a0})", "np.sqrt(1.0 + {a} ** 2)", "np.abs({a})",
        "np.cumsum({a}) * 0.3",
    ],
    "select": [
        "np.where({a0} > 0.2, {a0}, {a})", "np.maximum({a}, {a})", "np.minimum({a}, 0.3)", "np.clip({a}, -0.7, 0.9)",
        "{a0} * ({a0} > 0.1)",
    ],
    "slice": [
        "{a}[::-1] * {a}", "np.concatenate([{a}[:2], {a}[2:]])", "{m}[1]", "{m}[:, 2] * {s}", "{m}[-1, ::-1]",
        "{m}[n] - {a}",
    ],
    "index array": ["{a}[picks]", "{a}[[0, 0, 2, 1]]", "{m}[picks, 1]", "{m}[1, picks]", "{m}[picks][0]"],
    "method": [
        "{a}.copy()", "{a}.clip(-0.8, 0.8)", "{a}.reshape(2, 2).ravel()", "{m}.sum(axis=0) * 0.2",
        "{m}.mean(axis=1)", "{a}.cumsum() * 0.2",
    ],
    "product": [
        "{m} @ {a} * 0.3", "{a} @ {m} * 0.3", "{m}.T @ {a} * 0.2", "np.dot({m}, {a}) * 0.3", "({m} @ {m})[0] * 0.1",
    ],
    "create": [
        "np.full(4, {s}) + {a}", "np.array([{s}, {s}, 0.5, {s}])", "np.stack([{s}, {s}, {s}, {s}]) * 0.5",
        "np.zeros_like({a0}) + {a0}",
    ],
    "array container": ["pair[1] * {s}", "knobs['bias'] + {a}", "weights[1] - {a}"],
    "array call": ["shrink({a})", "blend({a}, {a})", "np.linalg.solve({m} * 0.1 + 3.0 * np.eye(4), {a})"],
}  # fmt: skip

MATRIX = {
    "matrix": [
        "np.outer({a}, {a}) * 0.5", "{m}.T", "{m} @ {m} * 0.2", "{m} * {a}", "{m} + {a}[:, None]", "np.tanh({m})",
        "{m} * {s}", "np.stack([{a}, {a}, {a}, {a}])", "np.where({m0} > 0.0, {m0}, {m} * 0.1)", "{m}[picks]",
        "np.transpose({m}) - {m}",
    ],
}  # fmt: skip


HELPERS = '''
rates = {"x": 0.3, "y": -0.2}


def blend(p, q, weight=0.5):
    return weight * p + (1.0 - weight) * q


def bump(p):
    if p > 0.3:
        return p * 0.5
    return math.sin(p) + 0.1


def total(values, scale):
    s = 0.0
    for value in values:
        s = s + math.tanh(value * scale)
    return s


def search(values, bound):
    """An early return in a loop, and one after it."""
    last = bound
    for i, value in enumerate(values):
        if value > bound + 0.31:
            return value * last
        if value < -1.1:
            last = value * 0.5
            continue
        last = last + value * i * 0.1
    else:
        last = last * 0.9
    return last - 0.2


def meet(p, q, steps):
    """Loops within loops, each left early."""
    for i in range(steps + 2):
        for j in range(3):
            if q > 0.83:
                break
            q = q + 0.3 * p * j
        else:
            p = p * 0.8
            continue
        p = p + 0.1 * q
        if p > 1.2:
            break
    return p * q


def horner(x, *coefficients):
    y = 0.0
    for c in reversed(coefficients):
        y = y * x + c
    return y


def weigh(pair, x):
    weight, values = pair
    return weight * x + values.sum()


def scaled(x, *, gain=2.0, **rest):
    return x * gain


def shrink(values):
    size = np.linalg.norm(values)
    return values / (1.0 + size) if size > 1.0 else values * 0.5


def scale_into(values, k):
    values *= k


def tail(values):
    return values[1:]


def halves(values):
    return values[:2], values[2:]


def push(values, p):
    values[1:] = values[:-1]
    values[0] = p
    return values


def relax(values, p):
    """Writes in a loop that is left early; returns a view."""
    for i in range(1, len(values)):
        if values[i] > 1.13:
            return values[::-1]
        values[i] = 0.5 * values[i - 1] + math.sin(p)
        if values[i] < -0.91:
            break
    return values


def either(p, q, bound):
    if p[0] > bound:
        return p
    return q


def blend_into(p, q):
    """Its arguments may share memory."""
    p[1:] += 0.5 * q[:-1]
    q *= 0.9
    return p


def raised(p):
    """Of a number or of an array, which it writes into."""
    p += 0.3
    return p


def fill_all(items, p):
    for item in items:
        item[0] += p
    items[0][-1] = item[1] * p


def checked(p, bound):
    if p < bound:
        raise ValueError(f"{p} is too small")
    return math.sqrt(p - bound + 0.1)


def roots(values):
    """Raises in a loop of its own."""
    s = 0.0
    for value in values:
        if value < -0.37:
            raise ValueError("negative")
        s += math.sqrt(value + 0.41)
    return s * 0.3


def whole(values, p):
    """A loop that raises, its `else`, and what is behind it."""
    for i in range(len(values)):
        if values[i] < -0.63:
            raise ValueError
        if values[i] > 1.41:
            break
        p = p * 0.8 + values[i]
    else:
        p = p * 0.7
    return p * 0.5


def lenient(values, p):
    """Handles what it raises, but for what it does not know."""
    for value in values:
        try:
            if value > 1.17:
                raise IndexError
            p = p + roots([value, p])
        except ValueError:
            p = p * 0.5
            continue
        except IndexError:
            return p
        p = p - 0.1 * value
    return p


def drawings(values):
    for value in values:
        if value < -0.83:
            raise ValueError("a drawing")
        yield value * 0.5


def drawn(values):
    s = 0.0
    for value in drawings(values):
        s = s + value
    return s * 0.5


def chosen(p, key):
    options = {"p": p * 0.5, "q": math.sin(p)}
    if key not in options:
        raise KeyError(key)
    return options[key]


def retried(p, count):
    """What is tried until it comes out, or once too often."""
    while True:
        try:
            count -= 1
            if count > 0:
                raise RuntimeError
            p = p * 0.9
            break
        except RuntimeError:
            if count > 2:
                raise
            p = p + 0.1
            continue
    return p


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x + 0.1


line = Line(0.6)
'''
