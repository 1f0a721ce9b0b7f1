"""Logistic growth by Runge-Kutta steps: a scalar loop that calls a function of the user's four times."""

bound = "overhead"


def growth(y, rate):
    return rate * y * (1.0 - y)


def primal(rate, y, h, n):
    for _ in range(n):
        k1 = growth(y, rate)
        k2 = growth(y + 0.5 * h * k1, rate)
        k3 = growth(y + 0.5 * h * k2, rate)
        k4 = growth(y + h * k3, rate)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def by_hand(rate, y, h, n, *, out_bar=1.0):
    y_tape = []
    y2_tape = []
    y3_tape = []
    y4_tape = []
    for _ in range(n):
        y_tape.append(y)
        k1 = rate * y * (1.0 - y)
        y2 = y + 0.5 * h * k1
        y2_tape.append(y2)
        k2 = rate * y2 * (1.0 - y2)
        y3 = y + 0.5 * h * k2
        y3_tape.append(y3)
        k3 = rate * y3 * (1.0 - y3)
        y4 = y + h * k3
        y4_tape.append(y4)
        k4 = rate * y4 * (1.0 - y4)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    y_bar = out_bar
    rate_bar = 0.0
    for _ in range(n):
        y = y_tape.pop()
        k4_bar = y_bar * (h / 6.0)
        y4 = y4_tape.pop()
        rate_bar += k4_bar * (1.0 - y4) * y4
        y4_bar = k4_bar * (1.0 - y4) * rate - k4_bar * rate * y4
        y_bar += y4_bar
        k3_bar = k4_bar * 2.0 + y4_bar * h
        y3 = y3_tape.pop()
        rate_bar += k3_bar * (1.0 - y3) * y3
        y3_bar = k3_bar * (1.0 - y3) * rate - k3_bar * rate * y3
        y_bar += y3_bar
        k2_bar = k4_bar * 2.0 + y3_bar * (0.5 * h)
        y2 = y2_tape.pop()
        rate_bar += k2_bar * (1.0 - y2) * y2
        y2_bar = k2_bar * (1.0 - y2) * rate - k2_bar * rate * y2
        y_bar += y2_bar
        k1_bar = k4_bar + y2_bar * (0.5 * h)
        rate_bar += k1_bar * (1.0 - y) * y
        y_bar += k1_bar * (1.0 - y) * rate - k1_bar * rate * y
    return rate_bar


def args():
    return 1.3, 0.1, 0.01, 500
