"""Terms of a series collected in a list, which is summed at the end."""


def series(x, n):
    terms = []
    term = 1.0
    for i in range(1, n):
        term = term * x / i
        terms.append(term)
    return sum(terms)


def series_grad(x, n, *, out_bar=1.0):
    # forward
    term_tape = []
    term = 1.0
    for i in range(1, n):
        term_tape.append(term)
        term = term * x / i

    # reverse
    term_bar = 0.0
    x_bar = 0.0
    for i in reversed(range(1, n)):
        # terms.append(term)
        term_bar += out_bar
        # term = term * x / i
        term = term_tape.pop()
        t_bar = term_bar / i
        x_bar += t_bar * term
        term_bar = t_bar * x
    return x_bar


def args(rng):
    return float(rng.uniform(0.2, 1.5)), 7
