"""Functions that assert, in a module whose assertions pytest leaves as they are."""

from tests.frontend.lowered import t


def assert_often(x):
    assert t("test", x > 0), t("message", f"{x} is not positive")
    assert x > 1
    assert x > 2, "small"
    return x
