"""Banners above the sweeps, the user's statements above their adjoints."""

from s2s.transforms.comment import comment
from tests.transforms.programs import TASK, body, core_function, text_of


def commented(text):
    return "\n".join(line for line in text_of(comment(core_function(text), TASK)).split("\n") if line)


def test_statements_are_quoted_once_above_their_adjoints():
    text = """
    def f(x, n):
        y = x * x
        # reverse
        x_bar = 0.0  # from: for i in range(n):
        y_bar = x_bar  # from: y = x * x
        x_bar = y_bar * 2.0  # from: y = x * x
        for i in n:
            x = x_tape.pop()  # from: x = x * 0.9
            x_bar = x_bar * 0.9  # from: x = x * 0.9
            x_bar = x_bar * 3.0  # from: y = 3.0 * x
        x_bar = x_bar + 1.0  # from: return y
        return x_bar
    """
    assert commented(text) == body("""
        # forward
        y = x * x
        # reverse
        x_bar = 0.0
        # y = x * x
        y_bar = x_bar
        x_bar = y_bar * 2.0
        for i in n:
            # x = x * 0.9
            x = x_tape.pop()
            x_bar = x_bar * 0.9
            # y = 3.0 * x
            x_bar = x_bar * 3.0
        x_bar = x_bar + 1.0
        return x_bar
    """)


def test_a_statement_is_quoted_above_what_is_restored_for_it():
    text = """
    def f(x, x_tape):
        # reverse
        x = x_tape.pop()  # from: x = x * 0.9
        x_bar = x * 3.0  # from: y = 3.0 * x
        return x_bar
    """
    assert commented(text) == body("""
        # reverse
        # y = 3.0 * x
        x = x_tape.pop()
        x_bar = x * 3.0
        return x_bar
    """)


def test_a_returned_expression_is_quoted():
    text = """
    def f(x):
        # reverse
        x_bar = x * 2.0  # from: return x * x
        return x_bar
    """
    assert "# return x * x" in commented(text)


def test_a_program_without_reverse_sweep_has_no_comments():
    text = "def f(x):\n    y = x * x\n    return y"
    assert commented(text) == "y = x * x\nreturn y"
