"""What the tests of lowering share: a function and what it was lowered to, run side by side, calls traced."""

import contextlib
import copy

import numpy as np

from s2s import core
from s2s.codegen.build import build
from s2s.frontend.lower import lower_function

TRACE = []


def t(tag, value=None):
    """Gives the value, and leaves a trace of the call."""
    TRACE.append((tag, repr(value)))
    return value


@contextlib.contextmanager
def traced(tag, value=None):
    t("enter", tag)
    try:
        yield value
    finally:
        t("leave", tag)


class Noisy:
    """An object that traces what is done to it, so that the order of evaluation shows."""

    def __init__(self, tag, **members):
        self.__dict__.update(tag=tag, items={}, **members)

    def __setattr__(self, name, value):
        TRACE.append((self.tag, "set", name, repr(value)))
        self.__dict__[name] = value

    def __getitem__(self, key):
        TRACE.append((self.tag, "getitem", repr(key)))
        return self.items.get(repr(key), 1)

    def __setitem__(self, key, value):
        TRACE.append((self.tag, "setitem", repr(key), repr(value)))
        self.items[repr(key)] = value

    def __delitem__(self, key):
        TRACE.append((self.tag, "delitem", repr(key)))

    def __repr__(self):
        return f"Noisy({self.tag})"


def build_lowered(function):
    return build(core.check(lower_function(function))).function


def outcome(function, args, kwargs):
    """All that a call lets be seen: its result or exception, the trace, and what it left in the arguments."""
    args, kwargs = copy.deepcopy((args, kwargs))
    TRACE.clear()
    try:
        value = function(*args, **kwargs)
        result = ("returned", type(value).__name__, show(value))
    except Exception as error:
        cause = error.__cause__
        result = ("raised", type(error).__name__, str(error), type(cause).__name__, str(cause))
    return result, list(TRACE), show(args), show(kwargs)


def show(value):
    """The value as text, to the last bit."""
    with np.printoptions(floatmode="unique", threshold=10_000):
        return repr(value)


def same(function, *calls):
    """Check that a function and its lowered form do the same; a call is a tuple of arguments, or one argument."""
    lowered = build_lowered(function)
    for call in calls or [()]:
        args = call if isinstance(call, tuple) else (call,)
        expected, found = outcome(function, args, {}), outcome(lowered, args, {})
        assert found == expected, core_text(function)
    return lowered


def core_text(function):
    from s2s.codegen.writer import write_function

    return write_function(lower_function(function))


def text_of(function):
    """The Core of a function's body, without indentation of the function, numbers of temporaries kept."""
    lines = core_text(function).splitlines()[1:]
    return "\n".join(line[4:] for line in lines)
