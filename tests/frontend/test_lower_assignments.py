"""Assignments, unpacking, in-place operations and deletion, lowered."""

import numpy as np

from tests.frontend.lowered import Noisy, build_lowered, same, t, text_of


def test_flat_unpacking_stays_one_statement():
    def f(x):
        a, b = x
        a, b = b, a
        return a - b

    assert text_of(f).splitlines()[:2] == ["a, b = x", "a, b = b, a"]
    same(f, [(1, 5)], [(1, 2, 3)], [()])


def test_star_and_nested_unpacking():
    def f(x):
        a, *rest, z = x
        (p, q), r = rest
        [s, [u, *v]] = p, q
        (w,) = [a]
        return a, rest, z, p, q, r, s, u, v, w

    same(f, [(1, (2, [3, 4, 5]), 6, 7)], [(1, 2)], [(1, (2, 3), 4, 5)], [1.0])


def test_unpacking_into_places_goes_from_left_to_right():
    def f(a, r):
        a[r], r, a[r] = t("v", (5, 1, 7))
        r, a[r], (b, *a[t("i", 0)]) = 2, 3, (4, 5)
        return a, r, b

    same(f, ({}, 0))


def test_unpacking_twice_into_one_name():
    def f(x):
        a, x[a := 5], a = 1, 2, 3
        b, (b, c) = 1, (2, 3)
        d, d = 4, 5
        return a, b, c, d

    same(f, [{}])


def test_star_of_a_place():
    def f(a):
        *a[0], a[1] = range(4)
        return a

    same(f, [{}])


def test_several_targets():
    def f(x, a):
        y = z = t("v", x + 1)
        x, y = a[0] = z = (y, x)
        i = a[i] = x
        u = v = []
        u.append(1)
        return x, y, z, a, i, u, v

    same(f, (1, {}))


def test_value_is_evaluated_before_its_place():
    def f(a):
        t("owner", a)[t("index", 0)] = t("value", 1)
        t("owner", a).x = t("value", 2)
        t("owner", a)[t("low", 1) : t("high", 2), ...] = t("value", 3)
        a.x = a[0] = t("both", 4)

    same(f, Noisy("a"))


def test_a_place_on_its_own_value():
    def f(a, i):
        a[i] = i
        i = a[i] = i + 1
        a[(i := 7)] = i
        return a, i

    same(f, ({}, 1))


def test_augmented_assignment_of_numbers_and_arrays():
    def f(x, y):
        z = x
        x += y
        x *= x
        x -= y / 2
        return x, z

    same(f, (1.0, 2), (np.arange(3.0), np.ones(3)), (np.arange(3.0), 2), ([1], [2]))


def test_every_augmented_operator():
    def f(x, y):
        x **= 2
        x //= y
        x %= 7
        x <<= 2
        x >>= 1
        x |= 8
        x &= 12
        x ^= y
        return x

    def g(x, w):
        x @= w
        return x

    same(f, (9, 2))
    same(g, (np.eye(2), np.arange(4.0).reshape(2, 2)))


def test_augmented_places_evaluate_their_index_once():
    def f(a):
        a[t("i", 0)] += t("v", 1)
        t("a", a)[t("i", 1)] *= 3
        a.x -= 1
        a.x += t("w", 2)
        return a.x

    same(f, Noisy("a", x=5))


def test_augmented_place_reads_the_old_value_before_a_call():
    def f(a, box):
        def_value = bump(a)
        a[0] += bump(a)
        box.x += bump(box.items)
        return a, box.x, def_value

    same(f, ([1, 2], Noisy("box", x=3)))


def bump(items):
    items[0] = (items[0] if items else 0) + 10
    return t("bump", 1)


def test_augmented_place_with_library_functions_stays_in_place():
    def f(u, k):
        u[1:-1] += k * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    assert "u[1:-1] += " in text_of(f)
    same(f, (np.arange(5.0) ** 2, 0.5))


def test_augmented_assignment_with_walrus():
    def f(x, a, i):
        x += (x := 3)
        a[i] += (i := 1)
        a[i] += a[(i := 0)]
        return x, a, i

    same(f, (1, [5, 6], 0))


def test_augmented_assignment_of_an_unbound_name():
    def f(c):
        if c:
            s = 1
        s += t("value", 2)
        return s

    same(f, 0, 1)


def test_annotated_assignment():
    def f(x, a):
        y: float = x + 1
        z: int  # noqa: F842
        a[0]: undefined = y  # noqa: F821
        t("a", a)[t("i", 1)]: undefined  # noqa: F821
        (w): float = y
        return y, w, a

    same(f, (1, {}))


def test_a_declared_name_is_local():
    def f(x):
        if x:
            scale: float = 1.0
        return scale

    same(f, 0, 1)


def test_deletion():
    def f(x, a, b):
        del x, a[t("i", 0)], b[1:2], (a[1])
        try_it = a, b
        del [a]
        if try_it[1]:
            return x  # noqa: F821
        return a  # noqa: F821

    same(f, (1, {0: 1, 1: 2}, [1, 2, 3]), (1, {0: 1, 1: 2}, []), (1, {}, []))


def test_a_deleted_name_fails_in_time():
    def f(x, c):
        y = 1
        if c:
            del y
        return y + t("later", x)

    same(f, (1, 0), (1, 1))


def test_parameters_of_every_kind():
    marker = object()

    def f(a, b=2, /, c=-3.0, *args, d, e=marker, g=(1, 2), **kwargs):
        return a, b, c, args, d, e is marker, g, kwargs

    lowered = build_lowered(f)
    assert lowered(1, d=4) == f(1, d=4)
    assert lowered(1, 2, 3, 4, 5, d=6, e=7, h=8) == f(1, 2, 3, 4, 5, d=6, e=7, h=8)


def test_a_mutable_default_is_shared_with_the_function():
    def f(x, seen=[]):  # noqa: B006
        seen.append(x)
        return len(seen)

    assert [f(1), build_lowered(f)(2), f(3)] == [1, 2, 3]


class Secret:
    __shared = 5

    def __init__(self, value):
        self.__value = value

    def __repr__(self):
        return f"Secret({self.__value})"

    def method(self, __x):
        __y = __x + self.__value
        self.__value += 1
        return __y, Secret.__shared, self.__hidden(__y)

    def __hidden(self, y):
        return t("hidden", y)


def test_private_names_are_mangled():
    same(Secret.method, (Secret(3), 4))
