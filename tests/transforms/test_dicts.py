"""Dicts whose keys are known: compiled, and right, under two names, in loops, branches, helpers and containers."""

import copy

import numpy as np
import pytest

import s2s
from tests.programs.verify import verify


def display(x):
    d = {"a": x[0], "b": x * 2.0, 3: x[1]}
    e = {**d, "c": x[0] * x[1], "a": d[3]}
    f = d | {"a": 2.0, "z": d["a"]}
    g = dict(e, q=x[1], a=f["z"])
    total = np.sum(g["b"]) * g["a"] * e["a"] + f["z"] * f["a"] + g.get("q") * g.get("none", 3.0) * len(g)
    return total + (1.0 if "z" in e else x[0]) * (x[1] if "z" not in f else 2.0)


def changed(x):
    d = {"a": x[0], "b": x[1]}
    d["a"] = d["a"] * d["b"]
    d.update(b=x[0], c=x[1])
    d.update({"c": d["a"] * 2.0, "e": x[1]}, f=d["b"])
    d |= {"g": x[0] * 3.0}
    d["g"] *= d["f"]
    return d["a"] * d["b"] + d["c"] * d["e"] * d["g"]


def taken_off(x):
    d = {"a": x[0]}
    b = d.setdefault("b", x[1] * x[1])
    again = d.setdefault("b", 7.0)
    a = d.pop("a")
    none = d.pop("a", 0.5)
    d["c"] = x[1]
    d["a"] = a * none
    key, last = d.popitem()
    del d["b"]
    d["d"] = last * last
    return a * b * again + sum(d.values()) + (last if key == "a" else 2.0) + len(d)


def order_of_keys(x):
    d = {"a": x[0], "b": x[1], "c": x[0] * x[1]}
    d["a"] = d["a"] * 2.0
    d["b"] = d.pop("b") * 3.0
    s, k = 0.0, 1.0
    for value in d.values():
        s = s * value + k
        k += 1.0
    for key, value in d.items():
        s += value * value * (2.0 if key == "b" else 1.0)
    for key in d:
        d[key] = d[key] * s
    return d["a"] + d["b"] * d["c"] + s


def two_names(x):
    d = {"a": x[0], "b": x[1]}
    e = d
    f = d.copy()
    g = copy.copy(e)
    e["a"] = d["b"] * 2.0
    d["c"] = e["a"] * x[0]
    f["b"] = f["a"] * d["c"]
    e.pop("b")
    g.update(e)
    return d["a"] * e["c"] + f["a"] * f["b"] + g["a"] * g["b"] * len(e) + len(f)


def arrays_in_dicts(x):
    d = {"u": x * 2.0, "v": x}
    u = d["u"]
    d["u"] += x * d["v"]
    e = dict(d)
    e["u"][0] = x[1] * x[1]
    e["u"] = e["u"] * 2.0
    d["u"] *= u
    return np.sum(u * x) + np.sum(d["u"] * e["u"]) + d["v"][0]


def in_a_loop(x):
    state = {"h": x[0], "c": x[1]}
    log = {"n": 0, "best": x[0]}
    for k in range(3):
        old = state
        state = {"h": old["h"] * old["c"] + x[0], "c": old["h"] - k}
        log["n"] += 1
        if state["h"] > log["best"]:
            log["best"] = state["h"] * old["c"]
        state["c"] *= 0.5
    return state["h"] * state["c"] + log["best"] * log["n"]


def of_branches(x):
    d = {"a": x[0], "b": x[1]}
    if x[0] > x[1]:
        d["a"] = x[1] * 3.0
        e = {"b": d["b"], "a": x[0]}
    else:
        d = {"a": x[1], "b": x[0] * x[0]}
        e = d
    return d["a"] * d["b"] + e["a"] * e["b"] * 2.0


def step(params, grads, rate=0.1):
    return {name: params[name] - rate * grads[name] for name in params}


def merged(params, **more):
    new = params.copy()
    new.update(more)
    return new


def of_helpers(x):
    p = {"w": x * 2.0, "b": x[0]}
    for _ in range(3):
        g = {k: np.sin(v) for k, v in p.items()}
        p = step(p, g)
    p = merged(p, c=x[1], b=p["b"] * 2.0)
    return np.sum(p["w"]) * p["b"] * p["c"]


def of_known_keys(x):
    d = {key: x[i % 2] ** (i + 2) for i, key in enumerate(("a", "b", "c"))}
    e = {i: x[i] * 2.0 for i in range(2)}
    f = {}
    for name, scale in [("u", 1.0), ("v", 2.0)]:
        f[name] = x[0] * scale
        if name == "v":
            f[name] += f["u"]
    for i, (k, v) in enumerate(d.items()):
        f[k] = v * (i + 1)
    rest = {k: v for k, v in f.items() if k not in ("u", "a")}
    return d["a"] * d["b"] + e[0] * e[1] * f["v"] + sum(rest.values()) * len(rest) + f["c"]


def nested(x):
    state = {"layers": [{"w": x, "b": x[0]}, {"w": x * x, "b": 2.0}], "steps": (1, 2), "opt": {"m": {"w": x[1]}}}
    state["layers"][0]["w"] = state["layers"][1]["w"] * x[0]
    inner = state["opt"]["m"]
    inner["w"] = inner["w"] * 3.0
    state["opt"]["v"] = inner
    out = 0.0
    for layer in state["layers"]:
        out += np.sum(layer["w"]) * layer["b"]
        layer["b"] = out
    return out * state["layers"][0]["b"] + state["opt"]["v"]["w"] * state["opt"]["m"]["w"]


def held_lists(x):
    d = {"a": [x[0], x[1]], "n": 2}
    ys = d["a"]
    ys[0] = ys[1] * 2.0
    zs = ys.copy()
    zs.append(x[0])
    d["a"].append(x[0] * x[0])
    d["a"] = zs
    ys[1] = x[0] * x[1]
    d["a"][0] += ys[2]
    return ys[0] * ys[1] + zs[1] * zs[0] * d["n"] + zs[2]


def matched(x):
    total = 0.0
    for d in ({"kind": "line", "a": x[0]}, {"kind": "arc", "a": x[1], "r": x[0]}, {"kind": "none", "z": 1.0}):
        match d:
            case {"kind": "line", "a": a}:
                total += a * a
            case {"a": a, "r": r, **rest}:
                total += a * r * len(rest)
            case _:
                total += 0.5
    return total


def cleared(x):
    d = {"a": x[0], "b": x[1]}
    e = d
    s = x[0] if d else 2.0
    d.clear()
    e["q"] = s * x[1] if not d else s
    return e["q"] * len(d) + sum(list(e.values()))


def augmented_in_turn(x):
    totals = {"u": 0.0, "v": 0.0}
    for k in range(4):
        totals["u"] += x[0] * k
        for key in ("u", "v"):
            totals[key] = totals[key] * x[1] + k
    return totals["u"] * totals["v"]


def new_key_in_a_loop(x):
    state = {"position": x[0], "speed": x[1]}
    for k in range(4):
        state["force"] = -np.sin(state["position"]) * x[0]
        state["force"] *= k + 1.0
        state["speed"] = state["speed"] + 0.1 * state["force"]
        state["position"] += 0.1 * state["speed"]
        if state["speed"] > 1.2:
            break
    return state["position"] * state["speed"] + (1.0 if state else 2.0)


def new_key_in_a_branch(x):
    d = {"a": x * 2.0, "s": x[0]}
    if x[1] > 0.6:
        d["b"] = x
        d["b"] = d["b"] * d["s"]
        d["s"] = np.sum(d["b"])
    elif x[0] > 0.6:
        d["b"], d["c"] = x[0], x[1]
        d["s"] *= d.pop("b") if "c" in d else 3.0
    d["b"] = d["a"] * 0.5
    return np.sum(d["b"] * d["a"]) * d["s"] + (2.0 if "b" in d else x[0])


def key_gone_in_a_branch(x):
    d = {"a": x[0], "b": x[1], "c": x[0] * x[1]}
    while d["a"] < 2.0:
        if d["a"] > 0.7:
            d.update(e=d["a"])
        d["b"] = d["a"] * x[1]
        del d["b"]
        d["a"] = d["a"] + d["c"] + 0.3
    return d["a"] * d["c"]


def other_order_and_no_loop(x):
    d = {}
    if x[0] > x[1]:
        d["a"], d["b"] = x[0], x[1]
    else:
        d["b"], d["a"] = x[0] * 2.0, x[1]
    return d["a"] * d["b"] + d.get("c", x[0])


PROGRAMS = [
    display, changed, taken_off, order_of_keys, two_names, arrays_in_dicts, in_a_loop, of_branches, of_helpers,
    of_known_keys, nested, held_lists, matched, cleared, augmented_in_turn, new_key_in_a_loop, new_key_in_a_branch,
    key_gone_in_a_branch, other_order_and_no_loop,
]  # fmt: skip


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_with_dicts(f, size):
    rng = np.random.default_rng(size)
    for seed in range(3):
        outcome = verify(f, (rng.uniform(0.3, 1.5, size),), second=seed == 0, seed=seed)
        assert outcome.compiled, outcome.reason
        assert outcome.finite and not outcome.raised, outcome


def updated_argument(p, rate):
    new = {k: v - rate * np.cos(v) for k, v in p.items()}
    both = {**p, "s": np.sum(new["w"])}
    twice = dict(p)
    twice["b"] = both["s"] * twice["b"]
    return np.sum(new["w"] * both["w"]) * twice["b"] + new["b"]


def nested_argument(p, rate):
    q = p.copy()
    inner = {**q["inner"], "u": rate}
    q["inner"] = inner
    inner["t"] *= p["inner"]["t"]
    return np.sum(p["w"]) * q["inner"]["t"] * q["b"] + inner["u"] * p["inner"]["t"]


@pytest.mark.parametrize("f", [updated_argument, nested_argument], ids=lambda f: f.__name__)
def test_arguments_that_are_dicts(f):
    rng = np.random.default_rng(0)
    p = {"w": rng.normal(size=3), "b": rng.normal(), "inner": {"t": rng.normal()}}
    if f is updated_argument:
        del p["inner"]
    outcome = verify(f, (p, 0.3), second=True)
    assert outcome.compiled and outcome.finite, outcome


def test_one_dict_in_two_arguments_is_one_dict():
    def f(p, q):
        p.update(a=p["a"] * 3.0)
        return p["a"] * q["a"]

    d = {"a": 2.0}
    with pytest.warns(s2s.FallbackWarning):
        value, slopes = s2s.value_and_grad(f, (0, 1))(d, {"a": 2.0})
    assert value == 12.0 and slopes[0]["a"] == 6.0 and slopes[1]["a"] == 6.0


@pytest.mark.parametrize(
    "act",
    [lambda d: d["z"], lambda d: d.pop("z"), lambda d: d.__delitem__("z"), lambda d: {}.popitem()],
)
def test_errors_are_those_of_python(act):
    def f(x):
        d = {"a": x[0]}
        d.update(b=x[1])
        return act(d) * d["a"]

    with pytest.raises(KeyError) as found, np.errstate(all="ignore"):
        s2s.grad(f)(np.ones(2))
    with pytest.raises(KeyError) as expected:
        f(np.ones(2))
    assert found.value.args == expected.value.args


def some_paths(x):
    d = {"a": x[0]}
    if x[1] > 0.5:
        d["b"] = x[1]
    return d["a"] * d.get("b", 2.0)


def other_order(x):
    d = {}
    if x[0] > x[1]:
        d["a"], d["b"] = x[0], x[1]
    else:
        d["b"], d["a"] = x[0], x[1]
    s = 0.0
    for v in d.values():
        s = s * v + v
    return s


def one_key_or_its_like(x):
    d = {}
    if x[0] > x[1]:
        d[1] = x[0]
    else:
        d[True] = x[1]
    s = 0.0
    for k, v in d.items():
        s += v * (2.0 if k is True else 3.0)
    return s


def perhaps_deleted(x):
    d = {"a": x[0], "b": x[1]}
    for k in range(3):
        if k == 1 and x[0] > 0.6:
            del d["b"]
        elif "b" in d:
            d["b"] = d["b"] * x[0]
    return d["a"] * sum(d.values())


def one_of_two(x):
    d, e = {"a": x[0]}, {"a": x[1]}
    f = d if x[0] > x[1] else e
    f["a"] = f["a"] * 3.0
    d.update(b=f["a"])
    return d["a"] * d["b"] + e["a"]


def listed(x):
    log = []
    for k in range(3):
        row = {"k": k, "v": x[0] * k}
        row.update(w=x[1])
        log.append(row)
        row["v"] = row["v"] * 2.0
    return sum(r["v"] * r["w"] for r in log)


MAYBE = [some_paths, other_order, one_key_or_its_like, perhaps_deleted, one_of_two, listed]


@pytest.mark.parametrize("f", MAYBE, ids=lambda f: f.__name__)
def test_what_may_be_one_thing_or_another_is_right(f):
    rng = np.random.default_rng(1)
    for seed in range(4):
        outcome = verify(f, (rng.uniform(0.3, 1.5, 2),), seed=seed)
        assert outcome.finite and not outcome.raised, outcome


def weighed(d):
    s = 0.0
    for key, value in d.items():
        s += value * value * (2.0 if key is True else 3.0 if isinstance(key, float) else 5.0)
    return s


@pytest.mark.parametrize("force", [None, "tape"])
def test_equal_keys_of_other_types_are_other_keys(force):
    def on_tape(d):
        class Unknown:
            pass

        return weighed(d)

    f = weighed if force is None else on_tape
    gradient = s2s.value_and_grad(f)
    for _ in range(3):
        for key, weight in ((1, 5.0), (True, 2.0), (1.0, 3.0)):
            value, slopes = gradient({key: 1.5})
            assert value == weight * 1.5**2
            assert [(type(k), v) for k, v in slopes.items()] == [(type(key), 2 * weight * 1.5)]


def test_the_sign_of_a_key_counts():
    def f(d):
        return sum(value * value * (2.0 if str(key) == "-0.0" else 3.0) for key, value in d.items())

    gradient = s2s.grad(f)
    for _ in range(3):
        assert gradient({0.0: 1.5}) == {0.0: 9.0}
        assert gradient({-0.0: 1.5}) == {0.0: 6.0}
