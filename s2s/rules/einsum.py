"""Einstein sums: the cotangent of an operand is an Einstein sum of the result's cotangent and the other operands.

What the operand's subscripts name and nothing else does was summed away alone: there the cotangent is equal all along the
axis. A letter that an operand names twice reads its diagonal: there the cotangent is zero off the diagonal.
"""

import numpy as np

from s2s.rules.registry import jvp, vjp


@vjp(np.einsum, wrt="operands", containers="operands")
def einsum_vjp(g, ans, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    inputs, output, arrays = einsum_terms(operands)
    cotangents = [operand_cotangent(g, inputs, output, arrays, i, optimize) for i in range(len(arrays))]
    return in_place_of_arrays(operands, cotangents)


@jvp(np.einsum, wrt="operands")
def einsum_jvp(operands_dot, ans, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    inputs, output, arrays = einsum_terms(operands)
    subscripts = ",".join(inputs) + "->" + output
    terms = [[*arrays[:i], a_dot, *arrays[i + 1 :]] for i, a_dot in enumerate(among(operands, operands_dot))]
    return sum(np.einsum(subscripts, *term, optimize=optimize) for term in terms)


def among(operands, values):
    """The values that stand where the arrays stand among the operands."""
    return list(values[1:]) if isinstance(operands[0], str) else list(values[0 : 2 * (len(operands) // 2) : 2])


def einsum_terms(operands):
    """The subscripts of the operands and of the result, without ellipses, and the operands themselves."""
    arrays = among(operands, operands)
    if isinstance(operands[0], str):
        text = operands[0].replace(" ", "")
    else:
        text = ",".join(letters(operands[2 * i + 1]) for i in range(len(arrays)))
        if len(operands) % 2:
            text += "->" + letters(operands[-1])
    return *without_ellipses(text, [np.ndim(a) for a in arrays]), arrays


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
    sizes = {c: n for c, n in zip(own, shape, strict=True)}
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


def in_place_of_arrays(operands, cotangents):
    """The cotangents where the arrays stand among the operands, None for subscripts."""
    if isinstance(operands[0], str):
        return (None, *cotangents)
    found = [None] * len(operands)
    found[0 : 2 * (len(operands) // 2) : 2] = cotangents
    return tuple(found)
