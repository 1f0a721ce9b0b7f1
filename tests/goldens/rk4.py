"""Logistic growth by the classical Runge-Kutta method: a loop that calls a function of the user's own four times."""


def growth(y, rate):
    return rate * y * (1.0 - y)


def rk4(rate, y, h, n):
    for _ in range(n):
        k1 = growth(y, rate)
        k2 = growth(y + 0.5 * h * k1, rate)
        k3 = growth(y + 0.5 * h * k2, rate)
        k4 = growth(y + h * k3, rate)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def rk4_grad(rate, y, h, n, *, out_bar=1.0):
    # forward
    y_tape = []
    y2_tape = []
    y3_tape = []
    y4_tape = []
    for _ in range(n):
        k1 = rate * y * (1.0 - y)
        y2 = y + 0.5 * h * k1
        k2 = rate * y2 * (1.0 - y2)
        y3 = y + 0.5 * h * k2
        k3 = rate * y3 * (1.0 - y3)
        y4 = y + h * k3
        k4 = rate * y4 * (1.0 - y4)
        y_tape.append(y)
        y2_tape.append(y2)
        y3_tape.append(y3)
        y4_tape.append(y4)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    # reverse
    y_bar = out_bar
    rate_bar = 0.0
    for _ in reversed(range(n)):
        # y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y = y_tape.pop()
        k4_bar = y_bar * (h / 6.0)
        # k4 = growth(y + h * k3, rate)
        y4 = y4_tape.pop()
        rate_bar += k4_bar * (1.0 - y4) * y4
        y4_bar = k4_bar * (1.0 - y4) * rate - k4_bar * rate * y4
        y_bar += y4_bar
        k3_bar = k4_bar * 2.0 + y4_bar * h
        # k3 = growth(y + 0.5 * h * k2, rate)
        y3 = y3_tape.pop()
        rate_bar += k3_bar * (1.0 - y3) * y3
        y3_bar = k3_bar * (1.0 - y3) * rate - k3_bar * rate * y3
        y_bar += y3_bar
        k2_bar = k4_bar * 2.0 + y3_bar * (0.5 * h)
        # k2 = growth(y + 0.5 * h * k1, rate)
        y2 = y2_tape.pop()
        rate_bar += k2_bar * (1.0 - y2) * y2
        y2_bar = k2_bar * (1.0 - y2) * rate - k2_bar * rate * y2
        y_bar += y2_bar
        k1_bar = k4_bar + y2_bar * (0.5 * h)
        # k1 = growth(y, rate)
        rate_bar += k1_bar * (1.0 - y) * y
        y_bar += k1_bar * (1.0 - y) * rate - k1_bar * rate * y
    return rate_bar


def args(rng):
    return float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.1, 0.4)), 0.1, 9
