"""Which source is it: the text that is found is that of the code that a call runs."""

import functools
import threading

import gast
import numpy as np
import pytest

from s2s.errors import SourceUnavailableError, UnsupportedSyntaxError
from s2s.frontend.scope import scope_of
from s2s.frontend.source import find

FLAG = True
DECORATED = []


def body_of(function):
    """The text of the last statement of a function, as it was found."""
    return gast.unparse(find(function).node.body[-1]).strip()


def keep(function):
    return function


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


def plain(x, /, y=2.0, *rest, scale: float = 3.0, **options) -> float:
    """Multiply."""
    return x * y * scale


@keep
@keep
def decorated(x):
    return x + 1


@twice
def doubled(x):
    return x + 2


class Model:
    __rate = 0.5

    def energy(self, x, __power=2):
        return self.__rate * x**__power

    @classmethod
    def unit(cls, x):
        return cls.__rate * x

    @staticmethod
    def square(x):
        return x * x

    def __call__(self, x):
        return self.energy(x) + 1

    def closure(self):
        def inner(x):
            return super().__hash__() + self.__rate * x

        return inner


class Child(Model):
    def energy(self, x):
        return super().energy(x) * 2


def test_plain_function():
    source = find(plain)
    assert source.name == "plain"
    assert source.file == __file__
    assert source.function is plain
    assert source.text.startswith("def plain(x, /, y=2.0") and source.text.endswith("return x * y * scale")
    assert source.lines[source.node.lineno - 1].startswith("def plain")
    assert [p.id for p in source.node.args.args] == ["y"]
    assert (source.bound, source.keywords, source.class_name) == ((), {}, None)
    assert (source.defaults, source.kwdefaults) == ({"y": 2.0}, {"scale": 3.0})


def test_defaults_are_the_objects_of_the_function():
    start = np.ones(2)

    def fun(x, y, z=start, *, w=start):
        return x + y + z + w

    assert find(fun).defaults["z"] is start and find(fun).kwdefaults["w"] is start


def test_defaults_that_the_text_does_not_have_are_refused():
    def fun(x, y=1.0, *, z=2.0):
        return x + y + z

    fun.__defaults__ = (3.0,)
    assert find(fun).defaults == {"y": 3.0}
    fun.__defaults__ = (3.0, 4.0)
    with pytest.raises(SourceUnavailableError, match="parameters of fun were given defaults"):
        find(fun)


def test_decorators_are_left_out_of_the_tree():
    source = find(decorated)
    assert source.node.decorator_list == []
    assert source.text.startswith("def decorated")


def test_wrapped_is_not_followed():
    source = find(doubled)
    assert source.name == "wrapper"
    assert body_of(doubled) == "return 2 * function(*args, **kwargs)"


def test_positions_are_those_of_the_file():
    node = find(decorated).node.body[0]
    assert find(decorated).lines[node.lineno - 1][node.col_offset : node.end_col_offset] == "return x + 1"


# --- methods and other callables ---


def test_bound_method_brings_self():
    model = Model()
    source = find(model.energy)
    assert source.function is Model.energy
    assert source.bound == (model,)
    assert source.class_name == "Model"
    assert source.defaults == {"_Model__power": 2}


def test_method_of_a_class_is_unbound():
    assert find(Model.energy).bound == ()


def test_class_and_static_methods():
    assert find(Model.unit).bound == (Model,)
    assert find(Child().unit).bound == (Child,)
    assert find(Model.square).bound == ()
    assert find(vars(Model)["square"]).function is Model.square


def test_method_that_calls_super():
    source = find(Child().energy)
    assert source.class_name == "Child"
    assert scope_of(source.function).lookup("__class__") is Child


def test_function_in_a_method_knows_the_class():
    inner = Model().closure()
    assert find(inner).class_name == "Model"
    assert set(scope_of(inner).cells) == {"__class__", "self"}


def test_instance_with_call():
    model = Model()
    assert find(model).function is Model.__call__
    assert find(model).bound == (model,)


def test_instance_with_a_static_call():
    class Squarer:
        @staticmethod
        def __call__(x):
            return x * x

    assert find(Squarer()).bound == ()


def test_nested_partials():
    inner = functools.partial(plain, 1.0, scale=2.0, c=5)
    source = find(functools.partial(inner, 7.0, scale=4.0))
    assert source.function is plain
    assert source.bound == (1.0, 7.0)
    assert source.keywords == {"scale": 4.0, "c": 5}


def test_partial_of_a_method_binds_self_first():
    model = Model()
    assert find(functools.partial(model.energy, 3.0)).bound == (model, 3.0)


# --- lambdas ---


def test_second_lambda_of_a_line():
    f, g = (lambda x: x**2), (lambda x: x**3)
    assert (body_of(f), body_of(g)) == ("return x ** 2", "return x ** 3")
    assert find(g).text == "lambda x: x**3"
    assert find(g).name == find(g).node.name == "lambda_"


def test_equal_lambdas_of_a_line_keep_their_columns():
    f, g = (lambda x: x * x), (lambda x: x * x)
    line = find(f).lines[find(f).node.lineno - 1]
    assert find(f).node.col_offset == line.index("lambda")
    assert find(g).node.col_offset == line.rindex("lambda")


def test_lambdas_that_differ_in_a_constant_type_only():
    one, real, negative, zero = (lambda: 1), (lambda: 1.0), (lambda: -0.0), (lambda: 0.0)
    assert [body_of(f) for f in (one, real, negative, zero)] == ["return 1", "return 1.0", "return -0.0", "return 0.0"]


def test_lambda_in_a_lambda():
    make = [lambda k: lambda x: k * x][0]
    assert body_of(make(3)) == "return k * x"
    assert body_of(make) == "return lambda x: k * x"
    assert scope_of(make(3)).lookup("k") == 3


def test_lambda_over_lines_in_a_call():
    made = dict(
        a=1,
        fun=lambda x, k=FLAG: (
            x * x + np.sin(x)  # a lambda: the word in a comment
        ),
        args=(1.5,),
    )
    assert body_of(made["fun"]) == "return x * x + np.sin(x)"
    assert find(made["fun"]).defaults == {"k": True}


def test_lambda_in_a_class_and_in_its_bases():
    def base(function):
        DECORATED.append(function)
        return object

    class Holder(base(lambda self: self.__rate)):
        rate = lambda self: self.__rate * 2  # noqa: E731

    assert find(Holder.rate).class_name == "Holder"
    assert find(DECORATED[-1]).class_name is None


def test_lambda_in_a_comprehension():
    functions = [lambda x, i=i: x * i + n for i in range(2) for n in range(1)]
    assert body_of(functions[1]) == "return x * i + n"


# --- which definition ---


def test_conditional_definition():
    if not FLAG:

        def fun(x):
            return x**2
    else:

        def fun(x):
            return x**3

    assert body_of(fun) == "return x ** 3"


def test_definitions_of_one_name_in_two_scopes():
    def make_a():
        def step(v):
            return v * 2.0

        return step

    def make_b():
        def step(v):
            return v**3

        return step

    assert (body_of(make_a()), body_of(make_b())) == ("return v * 2.0", "return v ** 3")


def test_recursive_nested_function():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert find(power).name == "power"
    assert scope_of(power).lookup("power") is power


def test_nonlocal_and_unused_nonlocal():
    count = unused = 0

    def fun(x):
        nonlocal count, unused
        count += 1
        return x * count

    assert body_of(fun) == "return x * count"
    assert unused == 0


def test_function_that_holds_classes_and_assertions():
    def fun(x):
        class Point:
            def __init__(self, x):
                assert x > 0, "positive"
                self.x = x

            class Inner:
                y = 2

        assert x > 0
        return Point(x).x * Point.Inner.y

    assert body_of(fun) == "return Point(x).x * Point.Inner.y"


def test_empty_cell_is_resolved_later():
    def first(x):
        return second(x)

    scope = scope_of(first)
    before = scope.lookup("second")

    def second(x):
        return x

    assert before is not second
    assert scope.lookup("second") is second


# --- what has no source, or no derivative ---


@pytest.mark.parametrize("function", [len, np.sin, [].append, np.sum, functools.lru_cache(plain)])
def test_not_written_in_python(function):
    with pytest.raises(SourceUnavailableError, match="not written in Python"):
        find(function)


def test_class_is_refused():
    with pytest.raises(SourceUnavailableError, match="Model is a class"):
        find(Model)


def test_what_is_no_function_is_refused():
    with pytest.raises(SourceUnavailableError, match="cannot be called"):
        find(3.0)


def test_partial_that_calls_otherwise_is_refused():
    class Doubling(functools.partial):
        def __call__(self, x):
            return 2 * super().__call__(x)

    source = find(Doubling(plain, 1.0))
    assert source.function is Doubling.__call__


def test_generator_function_is_refused_at_its_yield():
    def fun(x):
        inner = [lambda: (yield)]
        while x < 3:
            x = yield x * len(inner)

    with pytest.raises(UnsupportedSyntaxError, match="fun is a generator function") as caught:
        find(fun)
    assert caught.value.origin.text == "yield x * len(inner)"


def test_async_functions_are_refused():
    async def fun(x):
        return x

    async def stream(x):
        yield x

    for function in (fun, stream):
        with pytest.raises(UnsupportedSyntaxError, match="is an async function") as caught:
            find(function)
        assert caught.value.origin.text == f"async def {function.__name__}(x):"


def test_generator_expression_is_no_generator_function():
    def fun(x):
        return sum(v * v for v in x)

    assert body_of(fun) == "return sum((v * v for v in x))"


# --- cost, threads ---


def test_threads_find_the_same(tmp_path):
    text = "\n".join(f"def f{i}(x):\n    return x * {i}\n" for i in range(40))
    space = load(tmp_path / "threaded.py", text)
    found = []

    def look():
        found.extend((i, body_of(space[f"f{i}"])) for i in range(40))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(text == f"return x * {i}" for i, text in found)


def load(path, text):
    path.write_text(text)
    space = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), space)
    return space
