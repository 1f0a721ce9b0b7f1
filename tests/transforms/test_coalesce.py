"""Versions of a variable become one name wherever their lives allow."""

from s2s import core
from s2s import kinds as K
from s2s.transforms.coalesce import coalesce
from tests.transforms.programs import TASK, body, core_function, run, text_of


def coalesced(text, *args, **facts):
    fn = core_function(text, **facts)
    merged = core.check(coalesce(fn, TASK))
    assert run(merged, *args) == run(fn, *args)
    return text_of(merged)


def test_versions_become_the_variable_and_copies_go():
    text = """
    def f(x, c):
        cond··1 = x < c
        if cond··1:
            x·2 = x * 0.9
            x·4 = x·2
        else:
            x·3 = x + 1.0
            x·4 = x·3
        return x·4
    """
    assert coalesced(text, 1.0, 2.0) == body("""
        cond··1 = x < c
        if cond··1:
            x = x * 0.9
        else:
            x = x + 1.0
        return x
    """)


def test_a_branch_that_only_copied_goes():
    text = """
    def f(x, c):
        cond··1 = x < c
        if cond··1:
            x·3 = x
        else:
            x·2 = x + 1.0
            x·3 = x·2
        return x·3
    """
    assert coalesced(text, 1.0, 2.0) == body("""
        cond··1 = x < c
        if cond··1:
            pass
        else:
            x = x + 1.0
        return x
    """)


def test_an_if_of_copies_goes_where_its_truth_does_nothing():
    text = """
    def f(x, c):
        if c:
            x·2 = x
        else:
            x·2 = x
        return x·2
    """
    assert coalesced(text, 1.0, True, kinds={"c": K.Bool()}) == "return x"
    assert coalesced(text, 1.0, True) == "if c:\n    pass\nreturn x"


def test_a_value_that_is_still_needed_keeps_its_name():
    text = """
    def f(x):
        x·2 = x * 0.5
        y = x + x·2
        return y
    """
    assert coalesced(text, 3.0) == text_of(core_function(text))


def test_the_loops_versions_meet_in_one_name():
    text = """
    def f(x, n):
        s = 0.0
        range··1 = range(n)
        s·2 = s
        x·2 = x
        for i in range··1:
            x·3 = x·2 * 0.5
            s·3 = s·2 + x·3
            s·2 = s·3
            x·2 = x·3
        return s·2
    """
    assert coalesced(text, 3.0, 4) == body("""
        s = 0.0
        range··1 = range(n)
        for i in range··1:
            x = x * 0.5
            s = s + x
        return s
    """)


def test_a_swap_in_a_loop_keeps_a_copy():
    text = """
    def f(a, b, n):
        range··1 = range(n)
        a·2 = a
        b·2 = b
        for i in range··1:
            a·3 = b·2
            b·3 = a·2
            a·2 = a·3
            b·2 = b·3
        r = (a·2, b·2)
        return r
    """
    for trips in range(4):
        assert "a·3 = b" in coalesced(text, 1, 2, trips)


def test_a_temporary_is_merged_with_what_it_is_copied_to():
    text = """
    def f(x):
        t··1 = x * 2.0
        y = t··1
        return y
    """
    assert coalesced(text, 3.0) == "y = x * 2.0\nreturn y"


def test_two_variables_of_the_user_are_never_merged():
    text = """
    def f(x):
        y = x
        z = y
        return z
    """
    assert coalesced(text, 3.0) == text_of(core_function(text))


def test_names_in_cells_of_closures_are_left_alone():
    text = """
    def f(x):
        x·2 = x
        def g():
            return x·2
        x·3 = 5.0
        x·2 = x·3
        y = g()
        return y
    """
    assert coalesced(text, 3.0).count("x·2 = ") == 2


def test_what_a_handler_reads_is_not_overwritten():
    text = """
    def f(x, g):
        x·2 = x
        try:
            x·3 = g(x)
            x·2 = x·3
        except ZeroDivisionError:
            pass
        return x·2
    """
    fn = core_function(text)
    merged = coalesce(fn, TASK)
    for g in (lambda v: 1 / 0, lambda v: v + 1):
        assert run(merged, 3, g) == run(fn, 3, g)


def test_pushes_rise_and_pops_sink():
    text = """
    def f(x, n):
        x_tape = []
        range··1 = range(n)
        x·2 = x
        for i in range··1:
            cond··2 = x·2 > 0.5
            x_tape.append(x·2)
            x·3 = x·2 * 0.5
            x·2 = x·3
        # reverse
        x_bar = 0.0
        for i in range··1:
            x·2 = x_tape.pop()
            t··3 = x_bar * 2.0
            x_bar = t··3 + x·2
        return x_bar
    """
    assert coalesced(text, 3.0, 3) == body("""
        x_tape = []
        range··1 = range(n)
        for i in range··1:
            x_tape.append(x)
            cond··2 = x > 0.5
            x = x * 0.5
        x_bar = 0.0
        for i in range··1:
            t··3 = x_bar * 2.0
            x = x_tape.pop()
            x_bar = t··3 + x
        return x_bar
    """)


def test_each_sweep_merges_its_own_versions():
    text = """
    def f(x):
        d = x * 2.0
        d·2 = d * d
        y = d·2
        # reverse
        d = x * 2.0
        d·2 = d * d
        r = d + d·2
        return (y, r)
    """
    assert coalesced(text, 3.0) == body("""
        d = x * 2.0
        d = d * d
        y = d
        d = x * 2.0
        d·4 = d * d
        r = d + d·4
        return y, r
    """)


def test_kinds_of_merged_names_are_joined():
    text = "def f(x):\n    x·2 = x * 2\n    return x·2"
    fn = coalesce(core_function(text, kinds={"x": K.Int(), "x·2": K.FLOAT}), TASK)
    assert fn.facts.kinds == {"x": K.FLOAT}
