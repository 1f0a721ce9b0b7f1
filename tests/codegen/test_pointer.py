"""The caret of an error stands below the character that it means, whatever stands before it."""

import linecache

import pytest

from s2s import errors
from s2s.core import Origin


@pytest.fixture
def pointed():
    """The text and the caret line of an error at the character marked ▮, in a line of a registered file."""
    name = "<pointed>"

    def shown(marked):
        before, after = marked.split("▮")
        linecache.cache[name] = (0, None, [before + after + "\n"], name)
        column = len(before.encode())
        origin = Origin(name, 1, column, 1, column + 1, "the statement", "f")
        head, line, caret = errors.pointer(origin).split("\n")
        assert head == f'  File "{name}", line 1, in f'
        return line, caret

    yield shown
    linecache.cache.pop(name, None)


def test_caret_stands_below_its_character(pointed):
    assert pointed("    x = ▮y + z") == ("    x = y + z", "        ^")


def test_letters_of_several_bytes_count_once(pointed):
    assert pointed("  é = 'àß' + ▮z") == ("    é = 'àß' + z", "               ^")


def test_wide_letters_take_two_columns_and_combining_ones_none(pointed):
    assert pointed("変 = ▮z") == ("    変 = z", "         ^")
    assert pointed("e\u0301 = ▮z") == ("    e\u0301 = z", "        ^")


def test_indentation_by_tabs_is_dropped_and_inner_tabs_are_kept(pointed):
    assert pointed("\t\tx =\t▮y") == ("    x =\ty", "       \t^")


def test_statement_itself_is_shown_where_the_file_is_gone():
    text = errors.pointer(Origin("<gone>", 7, 8, 7, 9, "x = 1", "f"))
    assert text == '  File "<gone>", line 7, in f\n    x = 1\n    ^'


def test_message_place_and_hint_make_the_text():
    origin = Origin("<gone>", 7, 0, 7, 5, "x = 1", "f")
    error = errors.UnsupportedSyntaxError("no", origin=origin, hint="Write yes.")
    assert str(error) == f"no\n{errors.pointer(origin)}\nHint: Write yes."
