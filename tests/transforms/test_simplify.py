"""Derivative code gets shorter, the user's code stays as it is."""

import math

import numpy as np
import pytest

import s2s
from s2s import core
from s2s import kinds as K
from s2s.runtime.numeric import unbroadcast
from s2s.transforms.simplify import simplify
from tests.transforms.programs import TASK, body, core_function, run, text_of

VECTOR = K.Array(np.dtype(float), 1)


def kind_of(name):
    """Kinds by the first letter of a name: v and w are vectors, n is an int, c a bool, all else is a float."""
    if name.startswith("range"):
        return K.Range()
    return {"v": VECTOR, "w": VECTOR, "n": K.Int(), "c": K.Bool()}.get(name[0], K.FLOAT)


def simplified(text, kinds=None, shapes=None):
    fn = core_function(text, scope={"unbroadcast": unbroadcast}, shapes=shapes)
    if kinds is None:
        kinds = {n: kind_of(n) for n in fn.local_names()}
    return core.check(simplify(fn.with_facts(kinds=kinds), TASK))


def reverse(*lines, params="g, x, y, z, v, w", returned="r"):
    """A function whose lines all belong to the reverse sweep, simplified; the text of what is left of them."""
    text = f"def f({params}):\n    n_one = 1\n    # reverse\n" + "".join(f"    {line}\n" for line in lines)
    fn = simplified(f"{text}    return {returned}\n")
    return [line for line in text_of(fn).split("\n") if not line.startswith(("return", "n_one"))]


@pytest.mark.parametrize(
    "lines, shorter",
    [
        (["t··1 = 1.0 * x", "r = t··1 + y"], ["r = x + y"]),
        (["t··1 = x / 1", "r = t··1 + y"], ["r = x + y"]),
        (["t··1 = x ** 1", "t··2 = 2 * t··1", "r = y * t··2"], ["t··3 = y * 2", "r = t··3 * x"]),
        (["t··1 = 2 - 1", "t··2 = x ** t··1", "r = y * t··2"], ["r = y * x"]),
        (["t··1 = -x", "t··2 = -t··1", "r = t··2 + y"], ["r = x + y"]),
        (["t··1 = -x", "r = y + t··1"], ["r = y - x"]),
        (["t··1 = -x", "r = t··1 + y"], ["r = y - x"]),
        (["t··1 = -x", "r = y - t··1"], ["r = y + x"]),
        (["t··1 = -x", "t··2 = z * t··1", "r = y + t··2"], ["t··3 = z * x", "r = y - t··3"]),
        (["t··1 = 1 / x", "r = y * t··1"], ["r = y / x"]),
        (["t··1 = x * y", "r = z * t··1"], ["t··2 = z * x", "r = t··2 * y"]),
        (["t··1 = 2 * v", "r = x * t··1"], ["t··2 = x * 2", "r = t··2 * v"]),
        (["t··1 = v * 0.5", "t··2 = t··1 * 3", "r = t··2 * w"], ["t··2 = v * 1.5", "r = t··2 * w"]),
        (["t··1 = -v", "t··2 = t··1 * 0.5", "t··3 = t··2 * 2", "r = t··3 * w"], ["t··6 = v * w", "r = -t··6"]),
    ],
)
def test_operations_of_the_reverse_sweep_are_shortened(lines, shorter):
    assert reverse(*lines) == shorter


@pytest.mark.parametrize(
    "lines",
    [
        ["t··1 = x * y", "r = v * t··1"],  # one pass over v, not two
        ["w_bar = 1.0 * v", "w_bar[0] = x", "r = w_bar * v"],  # a new array, which is written into: not v itself
        ["t··1 = x / y", "r = z * t··1"],
    ],
)
def test_what_would_cost_more_or_share_memory_stays(lines):
    assert reverse(*lines) == lines


def test_the_users_operations_stay_as_they_are():
    text = """
    def f(x, y):
        t··1 = -y
        a = x + t··1
        t··2 = 2 * x
        b = a * t··2
        return b
    """
    fn = simplified(text)
    assert text_of(fn) == text_of(core_function(text))


def test_a_stretched_number_is_multiplied_as_a_number():
    text = """
    def f(g, v):
        w = v - g
        # reverse
        t··1 = w.size
        t··2 = g / t··1
        t··3 = w.shape
        t··4 = np.broadcast_to(t··2, t··3)
        t··5 = t··4 * 2
        r = t··5 * w
        return r
    """
    kinds = {"g": K.FLOAT, "v": VECTOR, "w": VECTOR, "r": VECTOR, "t··1": K.Int(), "t··2": K.FLOAT, "t··4": VECTOR}
    kinds |= {"t··5": VECTOR, "t··3": K.Tuple((K.Int(),))}
    fn = simplified(text, kinds=kinds, shapes={n: "v" for n in ("v", "w")})
    assert text_of(fn) == body("""
        w = v - g
        t··7 = w.size
        t··2 = g / t··7
        t··6 = t··2 * 2
        r = t··6 * w
        return r
    """)
    v = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(run(fn, 0.5, v), run(core_function(text), 0.5, v))


@pytest.mark.parametrize("shapes, left", [({"v": "v", "w": "v"}, "w"), ({"v": "v", "w": "w"}, "unbroadcast(w, t··3)")])
def test_unbroadcast_to_the_same_shape_goes(shapes, left):
    text = """
    def f(v, w):
        n = 1
        # reverse
        t··1 = v.shape
        t··2 = unbroadcast(w, t··1)
        r = t··2 * 2.0
        return r
    """
    fn = simplified(text, shapes=shapes, kinds={"v": VECTOR, "w": VECTOR, "t··2": VECTOR, "r": VECTOR})
    assert (left == "w") == ("unbroadcast" not in text_of(fn))


def test_a_copy_is_read_through_until_its_source_changes():
    lines = ["a_bar = x", "b = a_bar + y", "x = b * z", "r = a_bar + x"]
    assert reverse(*lines) == ["a_bar = x", "b = x + y", "x = b * z", "r = a_bar + x"]


def test_the_users_own_copies_stay():
    text = """
    def f(x):
        y = x
        z = y * 2.0
        return z
    """
    assert text_of(simplified(text)) == text_of(core_function(text))


def test_a_meeting_name_keeps_the_value_that_a_copy_took():
    text = """
    def f(x, n):
        x·2 = x
        r·1 = range(n)
        s·2 = 0.0
        for i in r·1:
            t··1 = x·2
            x·3 = x·2 * 0.5
            x·2 = x·3
            s·3 = s·2 + t··1
            s·2 = s·3
        return s·2
    """
    fn = simplified(text)
    assert "s·3 = s·2 + t··1" in text_of(fn)
    assert run(fn, 3.0, 4) == run(core_function(text), 3.0, 4)


def test_what_the_forward_sweep_computed_is_not_computed_again():
    text = """
    def f(v):
        w = np.tanh(v)
        u = np.sum(w)
        # reverse
        t··1 = np.tanh(v)
        r = u * t··1
        return r
    """
    assert text_of(simplified(text)) == body("""
        w = np.tanh(v)
        u = np.sum(w)
        r = u * w
        return r
    """)


def test_what_the_forward_sweep_computed_is_computed_again_after_a_write():
    text = """
    def f(v):
        w = np.tanh(v)
        v[0] = 0.5
        # reverse
        t··1 = np.tanh(v)
        r = w * t··1
        return r
    """
    assert "t··1 = np.tanh(v)" in text_of(simplified(text))


def test_what_is_written_into_later_is_not_shared():
    text = """
    def f(v, x):
        w = np.tanh(v)
        # reverse
        v··1 = np.tanh(v)
        w += v
        v_bar = v··1 * x
        return (v_bar, w)
    """
    fn = simplified(text)
    assert "v··1 = np.tanh(v)" in text_of(fn)
    v = np.array([0.5, -0.25])
    np.testing.assert_array_equal(run(fn, v, 2.0), run(core_function(text), v, 2.0))


def test_a_variable_that_only_feeds_itself_is_dead():
    text = """
    def f(x, n):
        s·2 = 0.0
        range··1 = range(n)
        for i in range··1:
            t··2 = x * x
            s·3 = s·2 + t··2
            s·2 = s·3
        return x
    """
    assert text_of(simplified(text)) == "return x"


def test_a_loop_of_the_users_that_may_not_end_stays():
    text = """
    def f(x):
        while x > 0.5:
            y = x + 1.0
        return x
    """
    assert text_of(simplified(text)) == body("""
        while x > 0.5:
            pass
        return x
    """)


def test_what_may_raise_stays():
    text = """
    def f(x, v):
        a = x / x
        b = v[3]
        return x
    """
    assert text_of(simplified(text)) == text_of(core_function(text))


def test_a_tape_that_is_never_popped_goes():
    text = """
    def f(x):
        a_tape = []
        b_tape = []
        a_tape.append(x)
        b_tape.append(x)
        # reverse
        y = b_tape.pop()
        z = x + y
        return z
    """
    assert text_of(simplified(text)) == body("""
        b_tape = []
        b_tape.append(x)
        y = b_tape.pop()
        z = x + y
        return z
    """)


def test_a_branch_on_a_constant_is_decided():
    text = """
    def f(x):
        cond··1 = True
        if cond··1:
            y = x + 1.0
        else:
            y = x - 1.0
        return y
    """
    assert text_of(simplified(text)) == "y = x + 1.0\nreturn y"


def test_a_range_is_made_again_for_the_reverse_loop():
    text = """
    def f(x, n):
        range··1 = range(n)
        for i in range··1:
            x = x * 0.5
        # reverse
        t··2 = reversed(range··1)
        for i in t··2:
            x = x * 2.0
        return x
    """
    fn = simplified(text)
    assert text_of(fn).count("range(n)") == 2
    assert run(fn, 3.0, 4) == 3.0


def test_equal_contributions_are_written_once():
    lines = ["v_bar = x * v", "t··2 = x * v", "v_bar = v_bar + t··2"]
    assert reverse(*lines, returned="v_bar") == ["t··3 = x * 2", "v_bar = t··3 * v"]


@pytest.mark.parametrize(
    "lines, shorter",
    [
        (["w_bar = x * t··1", "w_bar -= x * v"], ["t··10 = x * 2", "w_bar = t··10 * t··1"]),
        (["w_bar = x * v", "t··2 = x * t··1", "w_bar = w_bar - t··2"], ["t··3 = x * 2", "w_bar = t··3 * v"]),
        (["w_bar = x * t··1", "t··2 = x * v", "w_bar += t··2"], None),
        (["w_bar = x * v", "t··2 = x * v", "w_bar -= t··2"], None),
    ],
)
def test_contributions_that_are_equal_but_for_their_signs(lines, shorter):
    lines = [line.replace("-= x * v", "-= t··9") for line in lines]
    if lines[-1].endswith("t··9"):
        lines.insert(-1, "t··9 = x * v")
    text = "def f(x, v):\n    t··1 = -v\n    u = np.sin(t··1)\n    # reverse\n"
    fn = core_function(text + "".join(f"    {line}\n" for line in lines) + "    return (w_bar, u)\n")
    kinds = {n: VECTOR if n in ("u", "t··1") else kind_of(n) for n in fn.local_names()}
    new = core.check(simplify(fn.with_facts(kinds=kinds), TASK))
    left = text_of(new).split("\n")[2:-1]
    assert shorter is None or left == shorter
    v = np.array([0.5, -2.0])
    np.testing.assert_array_equal(run(new, 3.0, v)[0], run(fn, 3.0, v)[0])


def test_a_flag_that_repeats_a_condition_goes():
    text = """
    def f(x, n):
        done··1 = False
        range··2 = range(n)
        for i in range··2:
            x = x * 0.5
            cond··3 = x < 0.2
            if cond··3:
                done··1 = True
            if done··1:
                break
        return x
    """
    fn = simplified(text)
    assert "done" not in text_of(fn) and "if cond··3:\n        break" in text_of(fn)
    assert [run(fn, 1.0, n) for n in (0, 1, 9)] == [1.0, 0.5, 0.125]


def test_a_flag_stays_where_its_condition_changes():
    text = """
    def f(x, n):
        done··1 = False
        range··2 = range(n)
        for i in range··2:
            x = x * 0.5
            cond··3 = x < 0.2
            if cond··3:
                done··1 = True
            cond··3 = x < 0.1
            if done··1:
                break
        return (x, cond··3)
    """
    fn = simplified(text)
    assert "done" in text_of(fn)
    assert run(fn, 1.0, 9) == (0.125, False)


def test_the_old_value_of_an_adjoint_needs_no_copy():
    text = """
    def f(x, y, n):
        range··1 = range(n)
        # reverse
        x_bar = 0.0
        p_bar·2 = y
        for i in range··1:
            t_bar··2 = p_bar·2
            p_bar·2 = t_bar··2 * x
            t··3 = t_bar··2 * y
            x_bar = x_bar + t··3
        return (x_bar, p_bar·2)
    """
    fn = simplified(text)
    assert "t_bar" not in text_of(fn)
    assert run(fn, 0.5, 2.0, 3) == run(core_function(text), 0.5, 2.0, 3)


def test_an_index_beside_another_is_written_where_it_is_used():
    fn = simplified(
        """
        def f(v, n):
            n··1 = n - 1
            x = v[n··1]
            y = x * 2.0
            v[n··1] = y
            return v
        """
    )
    reads = [line for line in text_of(fn).split("\n") if line.endswith("= n - 1")]
    assert len(reads) == 2  # each for a statement of its own, into which `fold` puts it


@pytest.mark.parametrize(
    "between",
    [
        "n = n * 2",
        "for n in range1:\n                x = x + 1.0",
        "n··1 = n + 2",
        "while n > 2:\n                n = n - 1",
    ],
)
def test_an_index_is_held_where_what_it_is_beside_changes(between):
    text = f"""
        def f(v, n, range1):
            n··1 = n - 1
            x = v[n··1]
            {between}
            v[n··1] = x
            return v
        """
    fn = core_function(text)
    fn = fn.with_facts(kinds={n: kind_of(n) for n in fn.local_names()})
    v = np.arange(9.0)
    np.testing.assert_equal(run(core.check(simplify(fn, TASK)), v, 4, range(3)), run(fn, v, 4, range(3)))


def test_an_index_is_held_in_a_loop_that_changes_what_it_is_beside():
    text = """
        def f(v, n, range1):
            n··1 = n - 1
            for k in range1:
                v[n··1] = 3.0
                n = n - 1
                v[n··1] = v[n··1] + 1.0
            return v
        """
    fn = core_function(text.replace("v[n··1] = v[n··1] + 1.0", "x = v[n··1]\n                v[n··1] = x"))
    fn = fn.with_facts(kinds={n: kind_of(n) for n in fn.local_names()})
    v = np.arange(9.0)
    np.testing.assert_equal(run(core.check(simplify(fn, TASK)), v, 6, range(3)), run(fn, v, 6, range(3)))


def test_sign_of_a_matrix_is_moved_out_of_products_with_vectors():
    matrix = K.Array(np.dtype(float), 2)
    text = """
        def f(m, v, w):
            # reverse
            t··1 = -m
            a = np.dot(t··1, v)
            t··2 = np.dot(w, t··1)
            r = a + t··2
            return r
        """
    kinds = dict.fromkeys(["v", "w", "a", "t··2", "r"], VECTOR) | dict.fromkeys(["m", "t··1"], matrix)
    fn = simplified(text, kinds)
    assert "-m" not in text_of(fn)
    m, v, w = np.arange(9.0).reshape(3, 3), np.arange(3.0) - 1, np.arange(3.0) * 2
    np.testing.assert_array_equal(run(fn, m, v, w), np.dot(-m, v) + np.dot(w, -m))


def test_sign_of_a_matrix_stays_in_a_product_with_a_matrix():
    text = """
        def f(m, w):
            # reverse
            t··1 = -m
            r = np.dot(t··1, w)
            return r
        """
    kinds = dict.fromkeys(["m", "w", "t··1", "r"], K.Array(np.dtype(float), 2))
    assert "-m" in text_of(simplified(text, kinds))


def test_signs_of_numbers_are_moved_out_of_products_though_they_are_read_twice():
    assert reverse("t··1 = -x", "t··2 = t··1 * z", "a = y + t··2", "t··3 = t··1 * y",
                   "r = a + t··3") == ["t··4 = x * z", "a = y - t··4", "t··5 = x * y", "r = a - t··5"]  # fmt: skip


@pytest.mark.parametrize(("x", "negative"), [(2.0, False), (-2.0, True)])
def test_a_temporary_of_one_branch_is_not_read_in_the_other(x, negative):
    def f(x, negative):
        t = -x
        if negative:
            y = math.log(t)
        else:
            y = math.log(x)
        return y * y

    assert s2s.grad(f, strict=True)(x, negative) == pytest.approx(2 * math.log(abs(x)) / x)


def test_sum_of_products_of_vectors_is_their_product(rng):
    def of_one_shape(x, s):
        y = x / s
        return np.sum(y * np.sin(y))

    def stretched(x, s):
        y = (x[:1] / s) * x
        return np.sum(y * np.sin(y))

    def of_integers(x, s):
        return np.sum(np.arange(4) * s * x)

    x, s = rng.uniform(1.0, 2.0, 4), np.array([1.5])
    for f in (of_one_shape, stretched, of_integers):
        gradient = s2s.grad(lambda x, s, f=f: f(x, s[0]), argnums=(0, 1), strict=True)
        for at, got in enumerate(gradient(x, s)):
            steps = [(x + h, s) if at == 0 else (x, s + h[:1]) for h in 1e-30j * np.eye(got.size, 4)]
            np.testing.assert_allclose(got, [f(a, b[0]).imag / 1e-30 for a, b in steps], rtol=1e-12)
    assert " @ " in s2s.grad(of_one_shape, argnums=(0, 1), strict=True).source(x, 1.5)
