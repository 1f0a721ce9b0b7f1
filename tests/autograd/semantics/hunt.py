"""Random programs of views and writes, here and in PyTorch: `python -m tests.autograd.semantics.hunt SEED COUNT`.

Both must give the same values, gradients and second derivatives, or both must raise.
"""

import random
import sys
import warnings

import numpy as np

from tests.autograd.semantics.libraries import S2S, Torch


def _written(value):
    """A step that writes makes nothing new."""


REGIONS = (slice(1, None), slice(None, 2), slice(0, 3, 2), slice(0, 2))
STEPS = {
    "mul": lambda t, u, v, at: u * v,
    "add": lambda t, u, v, at: u + v * 0.5,
    "sin": lambda t, u, v, at: t.sin(u),
    "exp": lambda t, u, v, at: t.exp(u * 0.1),
    "view": lambda t, u, v, at: u[at],
    "clone": lambda t, u, v, at: u.clone(),
    "detach": lambda t, u, v, at: u.detach() * 1.0,
    "scale": lambda t, u, v, at: _written(t.mul_(u, 1.5)),
    "shift": lambda t, u, v, at: _written(t.add_(u, t.sum(v) * 0.1)),
    "augment": lambda t, u, v, at: _written(t.mul_(u, v)),
    "set": lambda t, u, v, at: u.__setitem__(at, v[at] * 2.0),
    "gather": lambda t, u, v, at: u.__setitem__([0, -1], t.sum(v) * 0.3),
    "mask": lambda t, u, v, at: u.__setitem__(u > 0.7, 0.25),
}


def program(rng: random.Random) -> list[tuple[str, int, int, slice]]:
    """Names of steps, which values they take, and a region."""
    names = list(STEPS)
    return [
        (rng.choice(names), rng.randrange(10**6), rng.randrange(10**6), rng.choice(REGIONS))
        for _ in range(rng.randrange(3, 14))
    ]


def run(t, steps, data):
    """The value, gradients and second derivatives."""
    x, w = t.leaf(data[0]), t.leaf(data[1])
    values = [x * 1.0, w * 1.0]
    whole = [True, True]
    for name, a, b, region in steps:
        wholes = [v for v, is_whole in zip(values, whole) if is_whole]
        parts = [v for v, is_whole in zip(values, whole) if not is_whole]
        takes_part = name in ("scale", "shift") and parts and a % 3
        u = (parts if takes_part else wholes)[a % len(parts if takes_part else wholes)]
        made = STEPS[name](t, u, wholes[b % len(wholes)], region)
        if made is not None:
            values.append(made)
            whole.append(name != "view")
    total = sum(t.sum(v * (0.3 + 0.7 * k)) for k, v in enumerate(values))
    first = t.grad(total, [x, w], allow_unused=True, create_graph=True)
    squares = [t.sum(g * g) for g in first if g is not None and g.requires_grad]
    second = t.grad(sum(squares), [x, w], allow_unused=True) if squares else ()
    return [t.value(v) for v in (total, *first, *second)]


def outcome(t, steps, data):
    """What a run gives, None if it raises."""
    try:
        return run(t, steps, data)
    except (RuntimeError, ValueError, TypeError):
        return None


def same(a, b) -> bool:
    """Whether two outcomes agree; no gradient is as good as zero."""
    if a is None or b is None:
        return a is b
    pairs = [(0.0 if x is None else x, 0.0 if y is None else y) for x, y in zip(a, b)]
    return len(a) == len(b) and all(np.allclose(x, y, rtol=1e-8, atol=1e-10) for x, y in pairs)


def main(seed: int, count: int) -> int:
    """How many programs the two libraries do not agree on."""
    warnings.simplefilter("ignore")
    libraries = S2S(), Torch()
    wrong = raised = 0
    for k in range(count):
        rng = random.Random(seed * 10**6 + k)
        steps, data = program(rng), np.random.default_rng(k).normal(size=(2, 4))
        ours, theirs = (outcome(t, steps, data) for t in libraries)
        raised += ours is None
        if not same(ours, theirs):
            wrong += 1
            print(f"program {k}: {[step[0] for step in steps]}\n  here:    {ours}\n  PyTorch: {theirs}")
    print(f"{count} programs, {raised} raised here, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
