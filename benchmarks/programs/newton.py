"""Square roots by Newton's method: a while loop in a loop, with as many trips as it takes."""

bound = "overhead"


def primal(a, n):
    total = 0.0
    for i in range(1, n):
        target = a * i
        x = target
        while abs(x * x - target) > 1e-10 * target:
            x = 0.5 * (x + target / x)
        total += x
    return total


def by_hand(a, n, *, out_bar=1.0):
    x_tape = []
    trips_tape = []
    for i in range(1, n):
        target = a * i
        x = target
        trips = 0
        while abs(x * x - target) > 1e-10 * target:
            x_tape.append(x)
            x = 0.5 * (x + target / x)
            trips += 1
        trips_tape.append(trips)

    total_bar = out_bar
    a_bar = 0.0
    for i in reversed(range(1, n)):
        target = a * i
        x_bar = total_bar
        target_bar = 0.0
        for _ in range(trips_tape.pop()):
            x = x_tape.pop()
            t_bar = x_bar * 0.5
            target_bar += t_bar / x
            x_bar = t_bar - t_bar * target / x**2
        target_bar += x_bar
        a_bar += target_bar * i
    return a_bar


def args():
    return 1.7, 60
