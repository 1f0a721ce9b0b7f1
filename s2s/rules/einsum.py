"""Einstein sums: the cotangent of an operand is an Einstein sum of the result's cotangent and the other operands.

What the operand's subscripts name and nothing else does was summed away alone: there the cotangent is equal all along
the axis. A letter that an operand names twice reads its diagonal: there the cotangent is zero off the diagonal.
"""

import numpy as np

from s2s.rules.registry import jvp, vjp

ARGUMENTS = 8  # a string and seven operands, or four operands with their lists of axes


def of_argument(position):
    """The derivatives by the argument at a position."""

    def einsum_vjp(
        g, ans, a0, a1, a2=None, a3=None, a4=None, a5=None, a6=None, a7=None, *,
        out=None, dtype=None, order="K", casting="safe", optimize=False,
    ):  # fmt: skip
        terms, arrays, which = einsum_terms((a0, a1, a2, a3, a4, a5, a6, a7), position)
        return operand_cotangent(g, *terms, arrays, which, optimize)

    def einsum_jvp(
        a_dot, ans, a0, a1, a2=None, a3=None, a4=None, a5=None, a6=None, a7=None, *,
        out=None, dtype=None, order="K", casting="safe", optimize=False,
    ):  # fmt: skip
        (inputs, output), arrays, which = einsum_terms((a0, a1, a2, a3, a4, a5, a6, a7), position)
        arrays = [*arrays[:which], a_dot, *arrays[which + 1 :]]
        return np.einsum(",".join(inputs) + "->" + output, *arrays, optimize=optimize)

    for made in (einsum_vjp, einsum_jvp):  # generated sources import them
        made.__name__ = made.__qualname__ = f"{made.__name__}_{position}"
        globals()[made.__name__] = made
    return einsum_vjp, einsum_jvp


for _position in range(ARGUMENTS):
    _vjp, _jvp = of_argument(_position)
    vjp(np.einsum, wrt=f"a{_position}")(_vjp)
    jvp(np.einsum, wrt=f"a{_position}")(_jvp)


def einsum_terms(arguments, position):
    """The subscripts of operands and result, without ellipses; the operands; which of them stands at a position."""
    given = [a for a in arguments if a is not None]
    if isinstance(given[0], str):
        arrays, which = given[1:], position - 1
        text = given[0].replace(" ", "")
    else:
        arrays, which = given[0 : 2 * (len(given) // 2) : 2], position // 2
        text = ",".join(letters(given[2 * i + 1]) for i in range(len(arrays)))
        if len(given) % 2:
            text += "->" + letters(given[-1])
    return without_ellipses(text, [np.ndim(a) for a in arrays]), arrays, which


def letters(subscripts):
    """A list of axis numbers as letters."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "".join("..." if s is Ellipsis else alphabet[s] for s in subscripts)


def without_ellipses(text, ndims):
    """The subscripts of each operand and of the result, an ellipsis spelt out in letters that are free."""
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text]
    lengths = [n - len(term.replace("...", "")) if "..." in term else 0 for term, n in zip(inputs, ndims, strict=True)]
    longest = max(lengths, default=0)
    spelt = "".join(free[:longest])
    inputs = [term.replace("...", spelt[longest - n :]) for term, n in zip(inputs, lengths, strict=True)]
    if not arrow:
        named = "".join(inputs)
        output = spelt + "".join(sorted(c for c in set(named) - set(spelt) if named.count(c) == 1))
    return inputs, output.replace("...", spelt)


def operand_cotangent(g, inputs, output, arrays, position, optimize):
    """The cotangent of the operand at a position."""
    own = inputs[position]
    shape = np.shape(arrays[position])
    others = [(t, a) for i, (t, a) in enumerate(zip(inputs, arrays, strict=True)) if i != position]
    named = set(output).union(*(t for t, _ in others))
    once = "".join(dict.fromkeys(own))
    found = "".join(c for c in once if c in named)
    subscripts = ",".join([output, *(t for t, _ in others)]) + "->" + found
    a_bar = np.einsum(subscripts, g, *(a for _, a in others), optimize=optimize)
    if not own:
        return a_bar  # of a number
    sizes = dict(zip(own, shape, strict=True))
    lone = [i for i, c in enumerate(once) if c not in named]
    a_bar = np.expand_dims(a_bar, tuple(lone))
    # An operand with an axis of length one takes part in every entry of the others' longer axis.
    stretched = tuple(i for i, c in enumerate(once) if sizes[c] == 1 and np.shape(a_bar)[i] != 1)
    if stretched:
        a_bar = np.sum(a_bar, axis=stretched, keepdims=True)
    a_bar = np.broadcast_to(a_bar, [sizes[c] for c in once])
    return a_bar if once == own else on_diagonal(a_bar, once, own, sizes)


def on_diagonal(a_bar, once, own, sizes):
    """What was read from a diagonal, put back there into zeros."""
    pairs = []
    fresh = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in own]
    seen, target = set(), ""
    for c in own:
        name = c if c not in seen else fresh.pop()
        if name != c:
            pairs.append(c + name)
        seen.add(c)
        target += name
    masks = [np.eye(sizes[pair[0]]) for pair in pairs]
    return np.einsum(",".join([once, *pairs]) + "->" + target, a_bar, *masks)
