"""`try` compiled: values, exceptions and gradients are those of the function, wherever it is left."""

import math
import random
import warnings

import numpy as np
import pytest

import s2s


def slope(f, args, h=1e-6):
    """The derivative by the first argument, a number or an array, by differences."""
    x = np.asarray(args[0], float)
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        plain = [v if v.ndim else v.item() for v in (up, down)]
        g[i] = (f(plain[0], *args[1:]) - f(plain[1], *args[1:])) / (2 * h)
    return g


def at(f, rest):
    """The function of its first argument."""
    if not rest:
        return f
    if len(rest) == 1:
        return lambda x, a=rest[0]: f(x, a)
    return lambda x, a=rest[0], b=rest[1]: f(x, a, b)


def holds(f, *calls):
    """The compiled gradient, its value, tangent and second derivative agree with differences, for each call."""
    vg = s2s.value_and_grad(f, strict=True)
    df = s2s.grad(f, strict=True)
    for args in calls:
        value = f(*args)
        found, gradient = vg(*args)
        assert found == value
        np.testing.assert_allclose(gradient, slope(f, args), rtol=1e-6, atol=1e-7)
        direction = np.random.default_rng(0).normal(size=np.shape(args[0]))[()]
        tangent = s2s.jvp(at(f, args[1:]), args[:1], (direction,))[1]
        np.testing.assert_allclose(tangent, np.sum(gradient * direction), rtol=1e-9, atol=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.FallbackWarning)
            second = s2s.grad(lambda x, rest=args[1:]: np.sum(df(x, *rest) * direction))(args[0])
        np.testing.assert_allclose(
            second, slope(lambda x, *rest: np.sum(df(x, *rest) * direction), args), rtol=1e-4, atol=1e-5
        )


def test_a_handler_that_runs_and_one_that_does_not():
    def f(x):
        try:
            y = math.log(x)
        except ValueError:
            y = x * x
        return y * x

    holds(f, (0.7,), (-0.7,), (2.0,))


def test_several_handlers_take_what_is_theirs():
    def f(x, items, key):
        y = x
        try:
            y = y / items[key]
            y = math.sqrt(y - 1.0)
        except (KeyError, IndexError):
            y = y * 2.0
        except ZeroDivisionError as error:
            y = y * len(str(error))
        except ValueError:
            y = y**3
        return y * y

    holds(f, (2.5, [1.0, 0.0], 0), (0.5, [1.0, 0.0], 0), (2.5, [1.0, 0.0], 1), (2.5, [1.0, 0.0], 2))


def test_what_nobody_handles_goes_on():
    def f(x, items, key):
        try:
            y = x / items[key]
        except ZeroDivisionError:
            y = x
        return y

    holds(f, (2.0, [0.0, 3.0], 0), (2.0, [0.0, 3.0], 1))
    with pytest.raises(IndexError, match="list index out of range"):
        s2s.grad(f, strict=True)(2.0, [0.0, 3.0], 2)


def test_else_and_finally_run_when_they_should():
    def g(x, n):
        y = x
        try:
            y = y * math.sqrt(x - n)
        except ValueError:
            y = y * 3.0
        else:
            y = y + x * x
        finally:
            y = y * y
        return y

    holds(g, (2.3, 1), (2.3, 5))


def test_returns_from_within():
    def f(x, n):
        for k in range(n):
            try:
                if k == 3:
                    return x * k
                x = x * math.log(x)
            except ValueError:
                return x * x
            finally:
                x = x + 1.0
        return x

    holds(f, (1.7, 0), (1.7, 2), (0.3, 2), (1.2, 6), (-1.5, 3))


def test_jumps_out_of_a_try_in_a_loop():
    def f(x, signs):
        total = x
        for sign in signs:
            try:
                if sign == 0:
                    continue
                if sign == 7:
                    break
                total = total + math.sqrt(sign * x) * total
            except ValueError as error:
                total = total * 0.5 - x * len(error.args)
                if sign < -5:
                    break
            total = total * 1.1
        else:
            total = total * 2.0
        return total

    rng = random.Random(0)
    cases = [(rng.uniform(0.3, 2.0), [rng.choice([0, 1, 2, -1, -3, -7, 7]) for _ in range(rng.randrange(6))])
             for _ in range(12)]  # fmt: skip
    holds(f, *cases)


def test_a_loop_that_an_exception_leaves():
    def f(x, items):
        total = 1.0
        count = 0
        try:
            for v in items:
                total = total * (x + v)
                total = total + math.log(x + v)
                count = count + 1
                while total > 10.0:
                    total = total * 0.3
        except ValueError:
            total = total * x * count
        return total

    holds(f, (1.3, [1.0, 2.0, 3.0]), (1.3, [1.0, 2.0, -3.0, 4.0]), (1.3, [-2.0]), (1.3, [4.0, 5.0, 6.0, -9.0]))


def test_a_while_loop_whose_condition_raises():
    def f(x, items):
        k = 0
        y = x
        try:
            while items[k] > 0:
                y = y * items[k] + x
                k = k + 1
        except IndexError:
            y = y * y
        return y

    holds(f, (0.7, [1.0, 2.0]), (0.7, [1.0, -2.0]), (0.7, [-1.0]))


def checked(v):
    if v < 0:
        raise ValueError(f"negative: {v}")
    return math.sqrt(v)


class OutOfRange(Exception):
    """An exception of the user's."""


def test_a_helper_that_raises():
    def f(x, shift):
        try:
            y = checked(x - shift) * x
        except ValueError:
            y = checked(shift - x)
        return y

    holds(f, (2.0, 1.0), (1.0, 2.5))


def test_raising_within():
    def f(x, n):
        y = x * 2.0
        try:
            y = y * x
            if n > 2:
                raise OutOfRange("n")
            y = y * x
            assert n != 1, "one"
            y = np.sin(y)
        except OutOfRange as error:
            y = y + x * len(error.args[0])
        except AssertionError:
            y = y * 5.0
        return y

    holds(f, (0.8, 0), (0.8, 1), (0.8, 2), (0.8, 3))


def test_one_in_another():
    def f(x, a, b):
        y = x
        try:
            try:
                y = y * math.log(a * x)
                y = y / b
            except ValueError:
                y = y * 2.0 / b
            finally:
                y = y + x
        except ZeroDivisionError:
            y = y * x * 7.0
        return y

    holds(f, (1.4, 1.0, 2.0), (1.4, -1.0, 2.0), (1.4, 1.0, 0.0), (1.4, -1.0, 0.0))


def test_an_exception_that_a_handler_raises_has_its_context():
    def f(x, n):
        try:
            y = math.log(x)
        except ValueError as error:
            if n == 0:
                raise
            if n == 1:
                raise OutOfRange("other") from error
            raise OutOfRange("other")  # noqa: B904
        return y

    df = s2s.grad(f, strict=True)
    assert df(2.0, 0) == 0.5
    with pytest.raises(ValueError, match="math domain error|positive input"):
        df(-1.0, 0)
    with pytest.raises(OutOfRange) as caught:
        df(-1.0, 1)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(OutOfRange) as caught:
        df(-1.0, 2)
    assert isinstance(caught.value.__context__, ValueError) and caught.value.__cause__ is None


def test_arrays_and_linear_algebra():
    def f(x, shift):
        a = np.outer(x, x) + np.eye(3) * shift
        try:
            lower = np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            lower = np.linalg.cholesky(a + 5.0 * np.eye(3))
        return np.sum(lower * lower * lower)

    x = np.random.default_rng(1).normal(size=3)
    holds(f, (x, 1.0), (x, -1.0))


def test_shapes_and_indices_of_arrays():
    def f(x, w, i):
        try:
            y = x + w
            z = y[i] * x[0]
        except ValueError:
            z = x[1] * x[1]
        except IndexError:
            z = np.sum(x) * x[2]
        return z

    rng = np.random.default_rng(2)
    x = rng.normal(size=3)
    holds(f, (x, rng.normal(size=3), 2), (x, rng.normal(size=2), 2), (x, rng.normal(size=3), 5))


def test_writes_into_buffers():
    def f(x, n):
        y = np.zeros(3)
        try:
            for i in range(n):
                y[i] = x[i % 3] * (i + 1)
                y[i] += x[0]
        except IndexError:
            y[1] = y[0] * y[2]
        return np.sum(y * y)

    x = np.random.default_rng(3).normal(size=3)
    holds(f, (x, 2), (x, 3), (x, 5))


def test_an_item_that_is_updated_in_place_is_updated_once():
    def of_a_list(x, n):
        items = [x * 1.0, x * 2.0]
        try:
            items[n] += x
            items[0] *= items[1]
        except IndexError:
            items.append(x)
        return np.sum(items[0] * items[1]) * len(items)

    def of_a_dict(x, n):
        table = {"a": x * 1.0, "b": x * 2.0}
        try:
            table["a"] *= x
            table["b"] -= table["a"] * (1.0 / n)
        except ZeroDivisionError:
            table["a"] = x
        return np.sum(table["a"] * table["b"])

    def of_a_list_in_a_list(x, n):
        rows = [[x * 1.0], [x * 2.0]]
        try:
            rows[n][0] += x
            rows[n] += [x * 3.0]
        except IndexError:
            rows.append([x])
        return np.sum(rows[0][0] * rows[1][-1]) * len(rows) * len(rows[0])

    x = np.random.default_rng(13).uniform(0.5, 1.5, 3)
    for f in (of_a_list, of_a_dict, of_a_list_in_a_list):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.FallbackWarning)
            for n in (0, 1, 2):
                value, gradient = s2s.value_and_grad(f)(x, n)
                assert value == f(x, n)
                np.testing.assert_allclose(gradient, slope(f, (x, n)), rtol=1e-6, atol=1e-7)


def test_floating_point_errors():
    def f(x, s):
        with np.errstate(divide="raise"):
            try:
                y = x / s
            except FloatingPointError:
                y = x * 3.0
        return np.sum(y * y)

    x = np.random.default_rng(4).normal(size=3)
    holds(f, (x, np.array([1.0, 2.0, 3.0])), (x, np.array([1.0, 0.0, 3.0])))


def test_everything_is_handled_where_the_handler_takes_everything():
    def f(x, items):
        y = 1.0
        for v in items:
            try:
                y = y * x / v
            except Exception:
                y = y + x
        return y

    holds(f, (1.5, [1.0, 2.0]), (1.5, [0.0, 2.0, 0.0]))
    with pytest.warns(s2s.FallbackWarning):
        assert s2s.grad(f)(1.5, ["a", 1.0]) == pytest.approx(2 * (1.0 + 1.5) - 1.0)


def test_conversions_of_texts():
    def f(x, words):
        total = 0.0
        for word in words:
            try:
                k = float(word)
            except ValueError:
                k = -1.0
            total = total + k * x * x
        return total

    holds(f, (1.5, ["1", "b", "2.5"]), (1.5, ["x"]))


def test_the_name_of_a_handler_is_deleted_behind_it():
    def f(x):
        e = 3.0
        try:
            x = math.sqrt(x) * e
        except ValueError as e:  # noqa: F841
            x = x * 2.0
        return x * e

    with pytest.raises(s2s.UnsupportedSyntaxError):
        s2s.grad(f, strict=True)(-1.0)


def test_what_cannot_be_asked_about_is_refused():
    def f(x):
        try:
            y = x * np.random.normal()
        except ValueError:
            y = x
        return y

    with pytest.raises(s2s.UnsupportedSyntaxError, match="a call of `normal` in `try`"):
        s2s.grad(f, strict=True)(1.0)


def test_an_iterator_is_not_spent_by_a_question():
    def f(x):
        pairs = zip([x, 2.0 * x], [1.0, 3.0])
        try:
            total = sum([a * b for a, b in pairs])
        except TypeError:
            total = x
        return total

    holds(f, (1.3,))


def test_finally_has_its_effects_on_either_way(capsys):
    def f(x):
        try:
            y = math.log(x)
        finally:
            print("done")
        return y * y

    df = s2s.grad(f, strict=True)
    assert df(2.0) == pytest.approx(math.log(2.0))
    assert capsys.readouterr().out == "done\n"
    with pytest.raises(ValueError):
        df(-2.0)
    assert capsys.readouterr().out == "done\n"


def test_a_name_that_is_assigned_on_either_side_of_a_condition():
    def f(x, words):
        total = 0.0
        for word in words:
            if word is None:
                k = 3.0
            if word is not None:
                k = word * 2.0
            total = total + k * x * x
        return total

    holds(f, (1.5, [1.0, 2.0]), (1.5, [None, None]))


def test_an_exception_in_a_loop_leaves_the_block_around_it():
    def raised(x):
        try:
            for v in x:
                if v < 0:
                    raise ValueError
            r = np.sum(np.sqrt(x))
        except ValueError:
            r = np.sum(x**2)
        return r

    def met(x):
        r = x[0]
        try:
            for i in range(6):
                r = r * x[i]
            r = r * 9
        except IndexError:
            r = r * 3
        return r

    def with_else(x):
        r = x[0]
        try:
            for i in range(3):
                if x[i] < 0:
                    raise ValueError
            else:
                r = r * 100
        except ValueError:
            r = r * 3
        return r

    def asserted(x):
        r = x[0]
        try:
            for v in x:
                assert v > 0
        except AssertionError:
            r = r * 3
        else:
            r = r * x[1]
        return r

    def nested(x):
        r = x[0]
        try:
            for i in range(3):
                for v in x:
                    r = r * 1.1 + v
                    if v < 0:
                        raise KeyError
                r = r * x[1]
            r = r * 7
        except KeyError:
            r = r * x[2]
        return r

    def positive(values):
        s = 0.0
        for v in values:
            if v < 0:
                raise ValueError("negative")
            s += np.sqrt(v)
        return s * 2

    def called(x):
        try:
            r = positive(x)
            r = r * 7
        except ValueError:
            r = positive(x[:2]) * x[0]
        return r

    def drawn(x):
        def each():
            for v in x:
                if v < 0:
                    raise ValueError
                yield v

        s = 0.0
        try:
            for v in each():
                s = s + v * v
            s = s * 9
        except ValueError:
            s = s * 3
        return s

    def decomposed(x):
        a = np.outer(x, x) + np.eye(4)
        k = 0
        try:
            for k in range(3):
                a = a - np.eye(4) * k * x[0]
                s = np.sum(np.linalg.cholesky(a))
            s = s * 3.0
        except np.linalg.LinAlgError:
            s = np.sum(a**2) * k
        return s

    for f in (raised, met, with_else, asserted, nested, called, drawn, decomposed):
        holds(f, (np.array([0.51, 0.83, -0.37, 0.64]),), (np.array([0.51, 0.83, 0.37, 0.64]),))


def test_a_handler_and_a_body_that_jump_in_a_loop():
    def skipping(x):
        r = x[0]
        for i in range(3):
            try:
                if i == 0:
                    raise KeyError
                r = r * x[2]
            except KeyError:
                r = r * x[3]
                continue
            r = r * 1.1
        return r

    def retrying(x):
        r, n = x[0], 0
        while True:
            try:
                n += 1
                if n < 3:
                    raise RuntimeError
                r = r * x[1]
                break
            except RuntimeError:
                r = r * x[0]
                continue
        return r

    def finishing(x):
        r = x[0]
        for i in range(3):
            try:
                if i == 1:
                    raise KeyError
                r = r + x[1]
            except KeyError:
                r = r * x[3]
                continue
            finally:
                r = r * 1.1
        return r

    def returning(x):
        r = x[0]
        for v in x:
            try:
                r = r * v
                if r > 0.5:
                    return r * v
                if v < 0:
                    raise ValueError
                r = r * 0.9
            except ValueError:
                r = r * x[1]
                break
        return r

    for f in (skipping, retrying, finishing, returning):
        holds(f, (np.array([1.3, 2.4, -0.7, 0.45]),), (np.array([0.3, 0.4, -0.7, 0.45]),))


def test_what_raises_in_finally_is_handled_in_place_of_what_was_raised_before():
    def f(x):
        y = x
        try:
            try:
                if x < 0.5:
                    raise RuntimeError
                y = y * 2.0
            finally:
                y = math.sqrt(x) * y
        except ValueError:
            y = x * x
        return y

    holds(f, (-0.7,), (0.7,))
    with pytest.raises(RuntimeError):
        s2s.grad(f)(0.3)


def test_what_is_raised_is_told_by_all_that_its_name_may_hold():
    def chosen(x):
        error = ValueError("a")
        if x > 1:
            error = KeyError("b")
        y = x
        try:
            try:
                raise error
            except KeyError:
                y = y * x
        except ValueError:
            y = y * 3.0
        return y

    def turned(x):
        y, error = x, ValueError("a")
        for i in range(3):
            try:
                try:
                    raise error
                except KeyError:
                    y = y * x * i
            except ValueError:
                y = y * 3.0
            error = KeyError("b")
        return y

    def escaping(x):
        error = ValueError("a")
        if x > 1:
            error = KeyError("b")
        try:
            raise error
        except KeyError:
            y = x * x
        return y

    for f in (chosen, turned):
        holds(f, (0.7,), (1.7,))
    holds(escaping, (1.7,))
    with pytest.raises(ValueError, match="a"):
        s2s.grad(escaping)(0.7)


def test_a_strict_zip_raises_behind_its_last_item():
    def f(x, y):
        s = 1.0
        try:
            for a, b in zip(x, y, strict=True):
                s = s * a + b
            s = s * 5.0
        except ValueError:
            s = s * 3.0
        return s

    x, y = np.array([0.3, 0.8, -0.4]), np.array([1.1, 0.7])
    with pytest.warns(s2s.FallbackWarning, match="strict"):
        value, gradient = s2s.value_and_grad(f)(x, y)
    assert value == f(x, y)
    np.testing.assert_allclose(gradient, slope(f, (x, y)), rtol=1e-6, atol=1e-9)


def raises_an_active_value(x):
    if x > 100:
        raise ValueError(x)
    return x * x


def handles_an_active_value(x):
    try:
        if x > 1:
            raise ValueError(x * x)
        y = x
    except ValueError:
        y = x * x
    return y


def decides_by_an_exception(x):
    error = RuntimeError(x)
    return x * x if error.args[0] > 1 else x


def takes_the_value_out(x):
    try:
        raise ValueError(x * x, 2)
    except ValueError as error:
        return error.args[0]


def takes_a_number_out(x):
    error = ValueError(x)
    return float(error.args[0]) * x


def takes_all_out(x):
    try:
        raise KeyError("key", x)
    except KeyError as error:
        _, y = error.args
    return x * y


def sums_what_it_holds(x):
    try:
        if x >= 1:
            raise AssertionError(x * x)
        y = x
    except AssertionError as error:
        y = x + sum(error.args)
    return y


@pytest.mark.filterwarnings("ignore::s2s.FallbackWarning")
@pytest.mark.parametrize("way", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("f", "compiled"),
    [(raises_an_active_value, True), (handles_an_active_value, True), (decides_by_an_exception, True),
     (takes_the_value_out, False), (takes_a_number_out, False), (takes_all_out, False),
     (sums_what_it_holds, False)],
)  # fmt: skip
def test_exceptions_that_hold_active_values(f, compiled, way):
    x, h = np.random.default_rng(3).uniform(1.2, 1.8), 1e-6
    slope = s2s.grad(f)(x) if way == "reverse" else s2s.jvp(f, (x,), (1.0,))[1]
    np.testing.assert_allclose(slope, (f(x + h) - f(x - h)) / (2 * h), rtol=1e-6)
    if compiled:
        assert s2s.grad(f, strict=True)(x) == s2s.grad(f)(x)


def test_the_user_gets_the_exception_with_its_value():
    with pytest.raises(ValueError) as error:
        s2s.grad(raises_an_active_value, strict=True)(101.5)
    assert error.value.args == (101.5,) and type(error.value.args[0]) is float


def test_an_exception_of_finally_takes_the_place_of_a_jump():
    def returning(x, table):
        try:
            try:
                return x * 2.0
            finally:
                x = x * table["a"]
        except KeyError:
            pass
        return x * 3.0

    def breaking(x, table):
        total = 0.0
        for i in range(3):
            try:
                try:
                    if i == 1:
                        break
                    total = total + x
                finally:
                    x = x * table[i]
            except KeyError:
                total = total + x * x
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.FallbackWarning)
        for f, tables in ((returning, ({}, {"a": 0.5})), (breaking, ({}, {0: 0.5}, {0: 0.5, 1: 2.0}))):
            for table in tables:
                value, gradient = s2s.value_and_grad(f)(1.3, table)
                assert value == f(1.3, table)
                np.testing.assert_allclose(gradient, slope(f, (1.3, table)), rtol=1e-6)


def bound_in_a_branch(x):
    if x[0] > 5.0:
        y = 1.0
    try:
        return y * x[0]
    except UnboundLocalError:
        return x[1] ** 2


def bound_in_a_loop(x):
    s = 0.0
    for i in range(2):
        try:
            s = s + last * x[i]  # noqa: F821  # bound at the end of the first round
        except Exception:
            s = s + x[0] ** 2
        last = x[i]
    return s


@pytest.mark.parametrize("f", [bound_in_a_branch, bound_in_a_loop], ids=lambda f: f.__name__)
def test_an_unbound_variable_is_caught(f):
    for x in (np.array([0.5, 1.5, 0.7]), np.array([6.0, 0.4, 2.0])):
        with pytest.warns(s2s.FallbackWarning, match="may be unbound"):
            value, slopes = s2s.value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(slopes, slope(f, (x,)), rtol=1e-6, atol=1e-9)
