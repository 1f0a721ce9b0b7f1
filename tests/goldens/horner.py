"""A polynomial by Horner's scheme: a loop over an array, whose result depends on itself."""


def horner(x, coefficients):
    p = 0.0
    for c in coefficients:
        p = p * x + c
    return p


def horner_grad(x, coefficients, *, out_bar=1.0):
    # forward
    p = 0.0
    p_tape = []
    for c in coefficients:
        p_tape.append(p)
        p = p * x + c

    # reverse
    p_bar = out_bar
    x_bar = 0.0
    for _ in reversed(range(len(coefficients))):
        # p = p * x + c
        p = p_tape.pop()
        x_bar += p_bar * p
        p_bar = p_bar * x
    return x_bar


def args(rng):
    return float(rng.normal()), rng.normal(size=6)
