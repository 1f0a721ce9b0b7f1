"""What is live where, in structured code."""

from s2s.transforms.liveness import Liveness
from tests.transforms.programs import core_function


def live_before(text):
    """The names that are live before each line of a function's body (nested ones excluded)."""
    fn = core_function(text.strip())
    lives = Liveness(fn)
    found = []
    for stmt, after in zip(fn.body, lives.afters(fn.body, 0)):
        mask = lives.before(stmt, after)
        found.append({name for name, bit in lives.bits.items() if mask & bit})
    return found


def test_a_name_is_live_from_its_definition_to_its_last_read():
    text = """
def f(x):
    a = x
    b = a
    c = b
    return c
"""
    assert live_before(text) == [{"x"}, {"a"}, {"b"}, {"c"}]


def test_only_what_both_branches_assign_is_dead_before_them():
    text = """
def f(c, a, b):
    if c:
        a = 1
        b = 2
    else:
        a = 3
    r = (a, b)
    return r
"""
    assert live_before(text)[0] == {"c", "b"}


def test_a_loop_may_run_no_trip():
    text = """
def f(r, a):
    for i in r:
        a = i
    return a
"""
    assert live_before(text)[0] == {"r", "a"}


def test_what_a_loop_carries_round_is_live_at_its_head():
    text = """
def f(r, s, t):
    for i in r:
        t = s
        s = i
    return t
"""
    assert live_before(text)[0] == {"r", "s", "t"}


def test_the_test_of_a_while_loop_is_read_after_each_trip():
    fn = core_function(
        """
def f(a, b):
    while a < b:
        a = 1
    return b
""".strip()
    )
    lives = Liveness(fn)
    (inner,) = lives.inner(fn.body[0], lives.bit("b"))
    assert inner.out & lives.bit("a") and inner.out & lives.bit("b")


def test_an_exception_may_leave_a_block_before_it_assigns():
    text = """
def f(a, g):
    try:
        a = g()
    except ValueError:
        b = a
    return a
"""
    assert "a" in live_before(text)[0]


def test_names_in_cells_of_closures_are_always_live():
    text = """
def f(x):
    a = x
    def g():
        return a
    a = 2
    b = g()
    return b
"""
    assert all("a" in names for names in live_before(text))


def test_a_deleted_name_is_read_and_gone():
    text = """
def f(a):
    del a
    a = 1
    return a
"""
    assert live_before(text) == [{"a"}, set(), {"a"}]
