"""A square root by Newton's method: a loop whose number of trips is known only afterwards."""


def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def newton_sqrt_grad(a, *, out_bar=1.0):
    # forward
    x = a
    x_tape = []
    trips = 0
    while abs(x * x - a) > 1e-12 * a:
        x_tape.append(x)
        x = 0.5 * (x + a / x)
        trips += 1

    # reverse
    x_bar = out_bar
    a_bar = 0.0
    for _ in range(trips):
        # x = 0.5 * (x + a / x)
        x = x_tape.pop()
        t_bar = x_bar * 0.5
        a_bar += t_bar / x
        x_bar = t_bar - t_bar * a / x**2
    # x = a
    a_bar += x_bar
    return a_bar


def args(rng):
    return (float(rng.uniform(0.5, 20.0)),)
