"""The tangent by Lambert's continued fraction, evaluated by Lentz's method: a loop left by `break`."""


def continued_fraction(x, tolerance):
    a = -x * x
    f = 1.0
    c = 1.0
    d = 0.0
    for j in range(1, 100):
        b = 2 * j + 1
        d = 1.0 / (b + a * d)
        c = b + a / c
        change = c * d
        f = f * change
        if abs(change - 1.0) < tolerance:
            break
    return x / f


def continued_fraction_grad(x, tolerance, *, out_bar=1.0):
    # forward
    a = -x * x
    f = 1.0
    c = 1.0
    d = 0.0
    f_tape = []
    c_tape = []
    d_tape = []
    trips = 0
    for j in range(1, 100):
        trips += 1
        b = 2 * j + 1
        d_tape.append(d)
        d = 1.0 / (b + a * d)
        c_tape.append(c)
        c = b + a / c
        change = c * d
        f_tape.append(f)
        f = f * change
        if abs(change - 1.0) < tolerance:
            break

    # reverse
    # return x / f
    x_bar = out_bar / f
    f_bar = -out_bar * x / f**2
    c_bar = 0.0
    d_bar = 0.0
    a_bar = 0.0
    for _ in range(trips):
        # f = f * change
        f = f_tape.pop()
        change_bar = f_bar * f
        f_bar = f_bar * (c * d)
        # change = c * d
        c_bar += change_bar * d
        d_bar += change_bar * c
        # c = b + a / c
        c = c_tape.pop()
        a_bar += c_bar / c
        c_bar = -c_bar * a / c**2
        # d = 1.0 / (b + a * d)
        t_bar = -d_bar * d**2
        d = d_tape.pop()
        a_bar += t_bar * d
        d_bar = t_bar * a
    # a = -x * x
    x_bar -= a_bar * 2 * x
    return x_bar


def args(rng):
    return float(rng.uniform(0.2, 1.2)), 1e-13
