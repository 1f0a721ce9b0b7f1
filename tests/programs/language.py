"""Random programs of the whole language: every row of `docs/language.md` that is compiled occurs in them.

They are programs of generator.py with the statements of `ROWS` among theirs. `{x1}`, `{x2}` stand for new names, `{S}`
for an expression, `{B}` for a bound. A line that begins with `|` stands at the beginning of the function.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from tests.programs.classes import Record
from tests.programs.generator import SIGNATURE, Writer, arguments

# The rows of the table, with the statements that have the construct, of which one is chosen.
ROWS: dict[str, list[str]] = {
    # --- functions ---
    "call of a function of the module": ["{s} = helper({s}) * 0.7", "{a} = helper({a}) * {s}"],
    "keyword arguments, defaults, keyword-only parameters": [
        "{s} = helper({s}, shift={s}) * helper(shift=0.3, x={S}, scale={s})", "{a} = helper(scale={s}, x={a})",
    ],
    "positional-only parameters": ["{s} = placed({s}, {S}, n=3)", "{a} = placed({a}, {s})"],
    "`*args`, `**kwargs` of a helper, and in a call": [
        """
        {x1} = ({s}, {S})
        {s} = many(*{x1}, {s}, scale={s}) * 0.5
        """,
        "{a} = many({a}, *[{a}, {s}])", "{s} = many(*[{s}, {S}], {s}, scale={s})",
    ],
    "a function that calls itself": ["{s} = fact({s} * 0.8, n + 1)", "{s} = fact(0.9, 2) * fact({s}, n)"],
    "functions that call each other": ["{s} = even({s}, n)", "{s} = np.sum(odd({a}, 2)) * 0.2"],
    "nested `def`, called": [
        """
        def {x1}(v, k=0.4):
            if k > 0.7:
                return v * k
            return math.sin(v) * {s0}
        {s0} = {x1}({s}) + {x1}({S}, 0.8) * 0.5
        """,
    ],
    "`lambda`, called": [
        """
        {x1} = lambda v: v * {s0} * 0.5
        {s} = np.sum({x1}({x1}({a})))
        """,
        "{s} = (lambda v, k=0.3: v * k + {s})({S})",
    ],
    "functions passed to the user's functions": [
        """
        def {x1}(f, v):
            return f(v) * 0.5
        {s} = {x1}(math.sin, {s}) + {x1}(lambda v: v * {s}, {S})
        """,
    ],
    "a nested function that is returned to its caller": [
        """
        def {x1}(k):
            def inner(v):
                return k * v * 0.5
            return inner
        {s} = {x1}({s})({S}) * {x1}(0.5)({s})
        """,
    ],
    "functions in a list or tuple": [
        """
        for {x1} in (math.sin, math.cos, lambda v: v * 0.3):
            {s} = {s} * 0.5 + {x1}({s})
        """,
        """
        {x1} = [math.tanh, lambda v: v * {s}]
        {s} = {x1}[n % 2]({s}) + {x1}[0]({S})
        """,
    ],
    "functions in a dict": [
        """
        {x1} = {'square': lambda v: v * v * 0.4, 'sine': math.sin}
        {s} = {x1}['square' if n > 1 else 'sine']({s})
        """,
    ],
    "closures over active variables, read when called": [
        """
        def {x1}(v):
            return v * {s0} * 0.6
        {s} = {x1}({S})
        {s0} = {S}
        {s} = {x1}({s}) * 0.5 + {s}
        """,
    ],
    "`nonlocal`": [
        """
        {x1} = {s}
        def {x2}(v):
            nonlocal {x1}
            {x1} = {x1} * 0.5 + v
        {x2}({s})
        {x2}({S})
        {s} = {x1} * 0.5
        """,
    ],
    "a default of a nested function, evaluated once": [
        """
        def {x1}(v, scale={s0}):
            return v * scale * 0.4
        {s0} = {S}
        {s} = {x1}({s}) + {s0} * 0.3
        """,
    ],
    "a nested function that calls itself": [
        """
        def {x1}(v, k):
            if k == 0:
                return v * {s0}
            return v * 0.5 + {x1}(v * 0.7, k - 1)
        {s} = {x1}({s}, n)
        """,
        """
        {x1} = lambda k, scale: 0.3 if k < 1 else {x1}(k - 1, scale) * scale + {a}[k]
        {s} = {x1}(n, {s}) * 0.5
        """,
    ],
    "`grad(f)(x)`, `value_and_grad(f)(x)` of a function of the module": [
        "{s} = np.sum(s2s.grad(energy)({a}, {s})) * 0.3",
        """
        {x1}, {x2} = s2s.value_and_grad(energy)({a}, {s})
        {s} = {x1} * 0.3 + {x2}[1]
        """,
    ],
    "`grad` of a nested function or lambda": ["{s} = np.sum(s2s.grad(lambda y: np.mean(y * y * {s}))({a})) * 0.5"],
    "`map`, `filter`": [
        "{s} = sum(map(lambda v: v * {s}, {a})) * 0.2",
        "{s} = sum(map(lambda v: v * 0.3, filter(lambda v: v > 0.5137, {a})))",
    ],
    "`functools.reduce`": ["{s} = functools.reduce(lambda p, q: p * 0.5 + q * {s}, {a}) * 0.3"],
    "`functools.reduce` of a function of `operator`, with a start": [
        "{s} = functools.reduce(operator.add, {a}, {s}) * 0.2",
    ],
    "`functools.partial`": [
        """
        {x1} = functools.partial(helper, scale={s})
        {s} = {x1}({s}) * {x1}(0.4, shift=0.2)
        """,
    ],
    "`sorted` of active values": [
        """
        {x1} = sorted({a})
        {s} = {x1}[0] * 0.5 + {x1}[2] * {s}
        """,
        "{s} = sorted([{s}, {S}, 0.3137])[1]",
    ],
    "`sorted(key=)`": [
        """
        {x1} = sorted([({s}, 0.5), ({S}, 0.2), ({s}, 0.8)], key=lambda pair: -pair[0])
        {s} = sum(p * q for p, q in {x1}) * 0.5
        """,
    ],
    "`max(key=)`, `min(key=)`": ["{s} = max({a}, key=lambda v: -(v * v)) * min({a}, key=abs)"],
    "`sum`, `max`, `any`, ... of a generator": [
        "{s} = sum(v * {s} for v in {a} if v > 0.2137) * 0.3", "{s} = max(math.sin(v) for v in {a}) * 0.7",
        """
        if any(v > 0.9137 for v in {a}) and not all(v > -0.3137 for v in {a}):
            {s} = {S}
        """,
    ],
    "`itertools.accumulate`": ["{s} = sum(v * v for v in itertools.accumulate({a})) * 0.05"],
    "`itertools.product`, `combinations`": [
        """
        for {x1}, {x2} in itertools.product({a}[:2], {a}[1:]):
            {s} = {s} * 0.7 + {x1} * math.sin({x2}) * 0.2
        """,
        "{s} = sum(p * q for p, q in itertools.combinations({a}, 2)) * 0.1",
    ],
    "`itertools.chain`": ["{s} = sum(v * v for v in itertools.chain({a}, {a}, [{s}])) * 0.1"],
    "`itertools.pairwise`": ["{s} = sum((q - p) * q for p, q in itertools.pairwise({a})) * 0.2"],
    "`itertools.islice`, `repeat`, `count`": [
        """
        for {x1}, {x2} in zip(itertools.islice({a}, 1, None), itertools.count(1)):
            {s} = {s} * 0.6 + {x1} * {x2} * 0.2
        """,
        "{s} = sum(p * q for p, q in zip({a}, itertools.repeat({s}))) * 0.2",
    ],
    "`zip(strict=True)`": ["{s} = sum(p * p * q for p, q in zip({a}, {a}, strict=True)) * 0.1"],
    "`itertools.zip_longest`": [
        "{s} = sum(p * q for p, q in itertools.zip_longest({a}, [{s}, {s}], fillvalue=0.3)) * 0.2",
    ],
    "a function under a decorator that uses `functools.wraps`": ["{s} = decorated({a}) * {s} * 0.3"],
    "a helper under `functools.lru_cache`, of static arguments": ["{s} = {s} * 0.5 + cached(n) * {s}"],
    "numbers, lists and arrays of the module, read when called": [
        "{s} = {s} * SCALE + RATES[0] * {s} * RATES[1]", "{a} = {a} * WEIGHTS", "{s} = np.sum({a} * WEIGHTS) * SCALE",
    ],
    # --- containers ---
    "list and tuple displays, items, slices, unpacking": [
        """
        {x1} = [{s}, {S}, ({s}, {s})]
        {s}, {s}, (_, {s}) = {x1}
        {s} = {x1}[-1][0] * 0.5 + {x1}[:2][1]
        """,
    ],
    "starred unpacking, `[*a, b]`": [
        """
        {x1}, *{x2} = [*{a}, {s}]
        {s} = {x1} * 0.5 + sum({x2}) * 0.2
        """,
    ],
    "dict displays, items, `get`, `in`, `**`": [
        """
        {x1} = {'a': {a}, 'b': {s}}
        {x2} = {**{x1}, 'c': {S}}
        {s} = {x2}['a'][1] * {x2}.get('b') + {x2}['c'] * (0.5 if 'z' in {x2} else 0.2)
        """,
    ],
    "`items`, `keys`, `values` of dicts, in loops": [
        """
        {x1} = {'a': {s}, 'b': {S}}
        for {x2}, {x3} in {x1}.items():
            {s} = {s} * 0.5 + {x3} * (0.4 if {x2} == 'a' else 0.6)
        for {x2} in {x1}:
            {s} = {s} * 0.5 + {x1}[{x2}] * 0.3
        {s} = sum({x1}.values()) * 0.5
        """,
    ],
    "sets of static values": [
        """
        {x1} = {0, 2}
        for {x2} in range(4):
            if {x2} in {x1}:
                {s} = {s} * 0.7 + {a}[{x2}] * 0.4
        """,
    ],
    "`namedtuple`, `NamedTuple`: made, read, unpacked, `_replace`": [
        """
        {x1} = Point({s}, {S})
        {x2} = Pair(a={x1}.a)._replace(b={s})
        {s}, _ = {x2}
        {s} = {x1}.a * 0.5 + {x1}[1] * {x2}.b
        """,
    ],
    "dataclasses: made, read": [
        """
        {x1} = Record({S})
        {s} = {x1}.a * {x1}.b + Record(b={s}, a={s}).b * 0.4
        """,
    ],
    "frozen dataclasses, their methods, `dataclasses.replace`": [
        """
        {x1} = Frozen({a}, {s})
        {s} = ({x1}.total() + dataclasses.replace({x1}, b={s}).total()) * 0.2
        """,
    ],
    "`types.SimpleNamespace`": [
        """
        {x1} = types.SimpleNamespace(a={S}, b={s})
        {s} = {x1}.a * 0.5 + {x1}.b * 0.4
        """,
    ],
    "list comprehensions, nested, with conditions": [
        """
        {x1} = [[p * q for q in {a}] for p in {a} if p > 0.1137]
        {s} = sum(sum(row) for row in {x1}) * 0.1
        """,
        "{s} = sum([v * {s} for v in {a} if v < {B} or v > 0.8137]) * 0.3",
    ],
    "dict comprehensions over known keys": [
        """
        {x1} = {key: {a}[i] * 0.7 for i, key in enumerate(('a', 'b', 'c'))}
        {s} = {x1}['a'] * {x1}['b'] + {x1}['c'] * 0.4
        """,
    ],
    "set comprehensions of static values": [
        """
        {x1} = {i % 2 for i in range(n + 2)}
        {s} = {s} * 0.3 * len({x1})
        """,
    ],
    "`append`, `pop`, in loops": [
        """
        {x1} = []
        for {x2} in range(4):
            {x1}.append({a}[{x2}] * 0.5)
        {s} = {x1}.pop() * {s} + sum({x1}) * 0.3
        """,
    ],
    "`extend`, `insert`, `clear`, `copy`, `+=` of lists": [
        """
        {x1} = [{s}]
        {x1}.extend([{s}, {S}])
        {x1}.insert(1, {s} * 0.5)
        {x2} = {x1}.copy()
        {x1} += [{s}]
        {x2}[0] = {s}
        {s} = sum(v * 0.3 for v in {x1}) + {x2}[1] * 0.4
        """,
    ],
    "`remove`, `index`, `count` of lists of static values": [
        """
        {x1} = [2, 0, 1]
        {x1}.remove(0)
        {s} = {a}[{x1}[0]] * 0.5 + {a}[{x1}[1]] * {x1}.index(1) * 0.3
        """,
    ],
    "`sort`, `reverse` of lists": [
        """
        {x1} = [{s}, {S}, 0.2137]
        {x1}.sort()
        {x1}.reverse()
        {s} = {x1}[0] * 0.5 + {x1}[2] * 0.4
        """,
    ],
    "`del items[i]`, `del items[a:b]`": [
        """
        {x1} = [{s}, {S}, {s}, {S}]
        del {x1}[1]
        del {x1}[:1]
        {s} = {x1}[0] * 0.5 + {x1}[1] * 0.4
        """,
    ],
    "`+` and `*` of lists, `len`, `in`": [
        """
        {x1} = [{s}, {S}] + [{s}] * 2
        {s} = sum(v * v for v in {x1}) * len({x1}) * 0.05
        """,
    ],
    "assignment to items and slices of lists": [
        """
        {x1} = [{s}, {S}, {s}]
        {x1}[0] = {x1}[1] * {s}
        {x1}[1:] = [{s}, {s}, {S}]
        {s} = {x1}[0] * 0.5 + {x1}[3] * 0.4
        """,
    ],
    "`d[k] = v`, `update`": [
        """
        {x1} = {'a': {s}, 'b': {S}}
        {x1}['a'] = {x1}['a'] * 0.5 + {x1}['b']
        {x1}.update(b={s}, c={S})
        {s} = {x1}['a'] * 0.4 + {x1}['b'] * {x1}['c'] * 0.3
        """,
    ],
    "`setdefault`, `pop`, `del d[k]`, `popitem`": [
        """
        {x1} = {'a': {s}}
        {s} = {x1}.setdefault('b', {S}) * 0.5
        {s} = {x1}.pop('a') * 0.4 + {s} * 0.3
        {x1}['c'] = {S}
        del {x1}['b']
        {s} = sum({x1}.values()) * 0.5
        """,
    ],
    "`collections.deque`": [
        """
        {x1} = deque([{s}])
        {x1}.append({S})
        {x1}.appendleft({s})
        {s} = {x1}.popleft() * 0.5 + {x1}[0] * 0.3
        """,
    ],
    "containers in containers, written into": [
        """
        {x1} = {'layers': [{'w': {a}, 'b': {s}}, {'w': {a} * 0.5, 'b': 0.3}], 'steps': (1, 2)}
        {x1}['layers'][0]['w'] = {x1}['layers'][1]['w'] * {s}
        for {x2} in {x1}['layers']:
            {s} = {s} * 0.5 + np.mean({x2}['w']) * {x2}['b']
        """,
    ],
    "lists of active values given to NumPy": [
        "{s} = np.mean([{s}, {S}]) + np.sum(np.array([{a}, {a} ** 2])) * 0.1",
        "{a} = np.stack([{a}, np.sin({a})], axis=1)[:, 1]",
    ],
    "`copy.copy`, `copy.deepcopy`, `list(...)`, `dict(...)`, `tuple(...)`": [
        """
        {x1} = [{s}, {S}]
        {x2} = list({x1})
        {x2}[0] = {s}
        {x3} = copy.copy({x1})
        {x1} = dict(a={s}, b=tuple({x1}))
        {s} = {x2}[0] * 0.4 + {x3}[1] * 0.3 + {x1}['b'][0] * {x1}['a'] * 0.3
        """,
    ],
    # --- objects ---
    "methods, attributes, class attributes": ["{s} = np.mean(model.affine({a})) * model.gain"],
    "inheritance, `super()`, `__call__`": ["{a} = model({a})"],
    "properties": ["{s} = {s} * 0.5 * model.norm"],
    "static and class methods": ["{s} = (model.square({s}) + model.scaled({s}) + Model.square({s})) * 0.3"],
    "`__getitem__`, `__len__` of a class": ["{s} = {s} * model[1] + len(model) * 0.1 * {s}"],
    "an attribute of an object that is set to an int": ["model.calls = model.calls + 1"],
    "attributes of an object made in the function, set to active values": [
        """
        {x1} = State({S})
        for {x2} in {a}:
            {x1}.h = math.tanh({x1}.h + {x2})
        {s} = {x1}.h
        """,
    ],
    "methods that set attributes of an object made in the function": [
        """
        {x1} = State({s} * 1.0)
        for {x2} in {a}:
            {x1}.step({x2})
        {s} = {x1}.h * 0.8
        """,
    ],
    "attributes of an object from outside, set to active values": [
        """
        model.last = {s} * model.gain
        {s} = model.last * 0.6 + {s} * 0.2
        """,
    ],
    "objects that a branch or loop chooses": [
        """
        {x1} = Vector({s}, {S})
        for {x2} in {a}:
            if {x2} > {B}:
                {x1} = Vector({x2}, {x1}.a)
            {x1} = {x1} * 0.5 + Vector({x2}, 0.3) * 0.3
        {s} = {x1}.dot({x1}) * 0.5
        """,
    ],
    "objects in attributes of objects": [
        """
        {x1} = State(Vector({s}, {S}))
        {x1}.h.a = {x1}.h.a * {s}
        {x1}.h = {x1}.h + {x1}.h * {s}
        {s} = {x1}.h.dot({x1}.h) * 0.2
        """,
    ],
    "objects in lists": [
        """
        {x1} = [State(v) for v in {a}]
        for {x2} in {x1}:
            {x2}.step({s})
        {s} = sum({x2}.h for {x2} in {x1}) * {x1}[0].h * 0.3
        """,
    ],
    "operators of the user's classes": [
        """
        {x1} = Vector({s}, {S})
        {x2} = {x1} * {s} + {x1}
        {s} = {x2}.dot({x1}) * 0.3
        """,
    ],
    # --- control ---
    "`with` of the user's context managers": [
        """
        with noted({s0}) as {x1}:
            {s} = {x1} * {s}
        """,
    ],
    "`match` on values": [
        """
        match n:
            case 0 | 1:
                {s} = {S}
            case 2:
                {s} = math.sin({s})
            case _:
                {s} = {s} * {s}
        """,
    ],
    "`match` on sequences": [
        """
        match [{s}, {S}]:
            case [{x1}]:
                {s} = {x1}
            case [{x1}, {x2}] if {x2} > {B}:
                {s} = {x1} * {x2}
            case [{x1}, *{x3}]:
                {s} = {x1} * 0.3 * len({x3})
        """,
    ],
    "`match` on mappings": [
        """
        match {'kind': 'square', 'value': {s}}:
            case {'kind': 'sine', 'value': {x1}}:
                {s} = math.sin({x1})
            case {'kind': 'square', 'value': {x1}, **{x2}}:
                {s} = {x1} * {x1} * 0.5
        """,
    ],
    "`match` on classes": [
        """
        match Record({s}, {S}):
            case Record(a={x1}, b={x2}):
                {s} = {x1} * 0.5 + {x2} * {s}
            case _:
                {s} = 0.5
        """,
    ],
    "a generator function consumed in the function": [
        """
        def {x1}(values):
            for v in values:
                if v > {B}:
                    yield v * {s}
        {s} = sum({x1}({a})) * 0.3
        """,
    ],
    "a generator function of the module, consumed in a `for`": [
        """
        for {x1} in running({a}):
            {s} = {s} * 0.5 + {x1} * 0.4
        """,
        "{s} = {s} * 0.5 + drawn({a}[:0])",
    ],
    "a generator expression that is kept, and consumed later": [
        """
        {x1} = (v * v for v in {a})
        {s} = sum({x1}) * 0.2
        """,
    ],
    "`global` numbers that are written": [
        """
        |global COUNT
        COUNT = COUNT + 1
        """,
    ],
    "loops that are always left: `for v in x: return v`": [
        """
        for {x1} in {a}:
            {s} = {s} * 0.5 + {x1} * {S}
            break
        """,
        """
        while True:
            if {s0} > {B}:
                {s} = {S}
                break
            else:
                {s0} = {s0} * 0.5
                break
        """,
    ],
    "`assert`, `raise`": [
        """
        assert n >= 0, f"n is {n}"
        if n > 7:
            raise ValueError(f"n is {n}")
        """,
    ],
    "`try ... except`, nothing raised": [
        """
        try:
            {s} = {S} + np.mean({a}) * {s}
        except ZeroDivisionError:
            {s} = 0.3
        """,
    ],
    "`try ... except`, with an exception": [
        """
        try:
            {s} = math.log(-0.3 - {s0} * {s0})
        except ValueError:
            {s} = math.log(0.4 + {s0} * {s0}) * 0.5
        """,
    ],
    "`try ... except` after some of the statements have run": [
        """
        try:
            {s} = {s} * 0.5 + {S}
            {x1} = [{s}, {s}][n]
            {s} = {x1} * 0.6
        except IndexError as {x2}:
            {s} = {s} * 0.3 * len({x2}.args)
        """,
    ],
    "`try ... else`, `finally`": [
        """
        try:
            {s0} = {s0} * 0.5 + {s}
        except ValueError:
            {s} = {S}
        else:
            {s0} = {s0} * 0.6
        finally:
            {s} = {s0} * 0.5 + {s}
        """,
    ],
    "assignment to items, slices and masks of arrays": [
        """
        {x1} = np.zeros(4)
        {x1}[0] = {a}[1] * {s}
        {x1}[1:] = {a}[:-1] * {s}
        {x1}[{x1} > 0.6137] = {s}
        {s} = np.sum({x1} * {x1}) * 0.2
        """,
    ],
    "gradients in the structure of the argument": ["{s} = np.sum(knobs['bias'] * pair[1]) * knobs['rate'] * 0.3"],
    "a dataclass as the argument to differentiate by": ["{s} = np.sum(settings.a * {a}) * settings.b * 0.3"],
    "`del` of names": [
        """
        {x1} = {S}
        {s} = {x1} * 0.5 + {s}
        del {x1}
        """,
    ],
    "f-strings, `str.format`, `print`": [
        """
        {x1} = f"{{s}:.2f} {{a}.shape!r}" + "{:.1f} of {}".format({s}, n)
        {s} = {s} * (0.4 + len({x1}) * 0.01)
        """,
    ],
    "`import` in the function": [
        """
        import math as {x1}
        {s} = {x1}.sin({s}) * {x1}.pi * 0.3
        """,
    ],
    "slices, `...`, `None`, negative steps, tuples as indices": [
        """
        {x1} = {a}[::-1][..., None] * {a}[None, :2]
        {s} = np.sum({x1}[1:, 0] * {x1}[0, -1]) * 0.2
        """,
    ],
    "`@`, `**`, `//`, `%`, `divmod`, unary operators": [
        "{s} = ({a} @ {a} + np.sum(-({a} ** 3) % 5.0137)) * 0.1", "{s} = divmod({s}, 0.3137)[1] + {s} // 0.7137 * 0.1",
    ],
    "functions of the standard library that take static values": [
        """
        {x1} = bisect.bisect([0.0, 0.5, 1.0], 0.7)
        {s} = {a}[{x1}] * 0.5 + {s} * 0.4
        """,
    ],
}  # fmt: skip

# Rows whose constructs are among those of `Writer`, by the names that they have there.
WRITTEN: dict[str, list[str]] = {
    "`if`, `elif`, `else`, conditional expressions": ["if", "elif", "else", "conditional"],
    "`and`, `or`, `not`, chained comparisons, `is`, `in`": ["and/or", "chained comparison"],
    "early `return`, from inside nested loops": ["return"],
    "`return` on some paths only": ["return"],
    "`for` over `range`": ["for"],
    "`for` over arrays, `enumerate`, `zip`, `reversed`": ["rows"],
    "`break`, `continue`, `for ... else`": ["break", "continue", "loop else"],
    "`while`, `while ... else`": ["while"],
    "`while True` with `break`": ["forever"],
    "walrus": ["walrus"],
    "augmented assignment of numbers and arrays": ["augmented"],
    "`with np.errstate(...)`": ["errstate"],
}


class LanguageWriter(Writer):
    """Writes programs of the whole language."""

    length = 3, 6
    signature = f"{SIGNATURE}, settings, model=model"

    def options(self, room: int, loop: bool) -> list[str]:
        return [*self.random.sample(super().options(room, loop), 9), *["row"] * 12]

    def place(self, key: str) -> str:
        if key[0] == "x":
            return self.new.setdefault(key, self.fresh("x"))
        if key == "S":
            return self.scalar()
        if key == "n":
            return "{n}"
        return self.bound() if key == "B" else super().place(key)

    def write_row(self, depth: int, room: int, loop: bool) -> None:
        row = self.choose(list(ROWS))
        self.constructs[row] += 1
        self.new: dict[str, str] = {}
        for line in self.filled(textwrap.dedent(self.choose(ROWS[row])).strip("\n")).split("\n"):
            if not line.startswith("|"):
                self.lines.append("    " * depth + line)
            elif line[1:] not in self.lines[1]:
                self.lines.insert(1, "    " + line[1:])

    @staticmethod
    def arguments(seed: int) -> tuple[Any, ...]:
        rng = np.random.default_rng([seed, 1])
        return *arguments(seed), Record(rng.normal(size=4), float(rng.normal()))
