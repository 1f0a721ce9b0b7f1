"""`match` -> conditions on its subject, one case after the other.

match p:                                subject = p
    case [a, b] if a > b:               cond = is_sequence(subject) and len(subject) == 2
        s                   ->          if cond:
    case _:                                 a = subject[0]
        t                                   b = subject[1]
                                            cond = a > b
                                        if cond:
                                            s
                                        else:
                                            t

Names are bound when the whole pattern fits, before the guard is asked, and stay bound where it says no. What the
patterns ask about: https://docs.python.org/3/reference/compound_stmts.html#patterns
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2s import core
from s2s.frontend.lower.lowering import Lowering, rewrites
from s2s.runtime.patterns import is_mapping, is_sequence

# Classes whose one positional pattern is matched against the subject itself.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@rewrites(gast.Match)
def match(low: Lowering, node: Any) -> list[Any]:
    subject = low.temporary("subject")
    return [gast.Assign([core.name(subject, gast.Store)], node.subject, None), *_cases(low, subject, node.cases)]


def _cases(low: Lowering, subject: str, cases: list[Any]) -> list[Any]:
    if not cases:
        return []
    case, *others = cases
    pattern = _Pattern(low)
    pattern.of(case.pattern, core.name(subject))
    binding = [gast.Assign([core.name(name, gast.Store)], value, None) for name, value in pattern.names.items()]
    test = _all(pattern.tests)
    guard = case.guard
    if guard is not None and binding:
        cond = low.temporary("cond")
        guarded = [*binding, _set(cond, guard)]
        if test is None:
            return _placed(low, case, [*guarded, *_choice(core.name(cond), case.body, _cases(low, subject, others))])
        asked = [_set(cond, test), gast.If(core.name(cond), guarded, [])]
        return _placed(low, case, [*asked, *_choice(core.name(cond), case.body, _cases(low, subject, others))])
    test = _all([t for t in (test, guard) if t is not None])
    if test is None:
        return _placed(low, case, [*binding, *case.body])
    return _placed(low, case, _choice(test, [*binding, *case.body], _cases(low, subject, others)))


def _choice(test: Any, body: list[Any], otherwise: list[Any]) -> list[Any]:
    return [gast.If(test, body, otherwise)]


def _set(name: str, value: Any) -> Any:
    return gast.Assign([core.name(name, gast.Store)], value, None)


def _placed(low: Lowering, case: Any, statements: list[Any]) -> list[Any]:
    """The statements, those of ours at the place of the pattern."""
    origin = low.origins(case.pattern)
    for stmt in gast.walk(gast.Module(statements, [])):
        if isinstance(stmt, gast.stmt) and not hasattr(stmt, "lineno") and core.origin_of(stmt) is None:
            core.place(stmt, origin)
    return statements


def _all(tests: list[Any]) -> Any:
    """One expression that asks all; None for none."""
    return gast.BoolOp(gast.And(), tests) if len(tests) > 1 else next(iter(tests), None)


class _Pattern:
    """What a pattern asks of a value, in order, and what it binds.

    tests: expressions. names: the value of each name that is bound.
    """

    def __init__(self, low: Lowering) -> None:
        self.low = low
        self.tests: list[Any] = []
        self.names: dict[str, Any] = {}

    def of(self, pattern: Any, value: Any) -> None:
        getattr(self, type(pattern).__name__)(pattern, value)

    def MatchValue(self, pattern: Any, value: Any) -> None:
        self.tests.append(gast.Compare(value, [gast.Eq()], [pattern.value]))

    def MatchSingleton(self, pattern: Any, value: Any) -> None:
        self.tests.append(gast.Compare(value, [gast.Is()], [core.constant(pattern.value)]))

    def MatchAs(self, pattern: Any, value: Any) -> None:
        if pattern.pattern is not None:
            self.of(pattern.pattern, value)
        if pattern.name is not None:
            self.names[pattern.name] = value

    def MatchOr(self, pattern: Any, value: Any) -> None:
        """The first alternative that fits; where they bind names, its number is kept."""
        found = [_Pattern(self.low) for _ in pattern.patterns]
        for alternative, inner in zip(found, pattern.patterns):
            alternative.of(inner, value)
        tests = [_all(alternative.tests) or core.constant(True) for alternative in found]
        if not found[0].names:
            self.tests.append(gast.BoolOp(gast.Or(), tests))
            return
        number = self.low.temporary("which")
        which: Any = core.constant(0)
        for i, test in reversed(list(enumerate(tests, 1))):
            which = gast.IfExp(test, core.constant(i), which)
        self.tests.append(gast.NamedExpr(core.name(number, gast.Store), which))
        for name in found[0].names:
            bound = found[-1].names[name]
            for i, alternative in reversed(list(enumerate(found[:-1], 1))):
                is_this = gast.Compare(core.name(number), [gast.Eq()], [core.constant(i)])
                bound = gast.IfExp(is_this, alternative.names[name], bound)
            self.names[name] = bound

    def MatchSequence(self, pattern: Any, value: Any) -> None:
        parts = pattern.patterns
        stars = [i for i, part in enumerate(parts) if isinstance(part, gast.MatchStar)]
        self.tests.append(self._call("is_sequence", is_sequence, value))
        least = core.constant(len(parts) - len(stars))
        size = self._call("len", len, value)
        if not stars:
            self.tests.append(gast.Compare(size, [gast.Eq()], [least]))
        elif least.value:
            self.tests.append(gast.Compare(size, [gast.GtE()], [least]))
        for i, part in enumerate(parts):
            if not isinstance(part, gast.MatchStar):
                index = i if not stars or i < stars[0] else i - len(parts)
                self.of(part, core.subscript(value, core.constant(index)))
            elif part.name is not None:
                after = len(parts) - i - 1
                bounds = (core.constant(i) if i else None, core.constant(-after) if after else None, None)
                self.names[part.name] = self._call("list", list, core.subscript(value, gast.Slice(*bounds)))

    def MatchMapping(self, pattern: Any, value: Any) -> None:
        self.tests.append(self._call("is_mapping", is_mapping, value))
        for key in pattern.keys:
            self.tests.append(gast.Compare(key, [gast.In()], [value]))
        for key, part in zip(pattern.keys, pattern.patterns):
            self.of(part, core.subscript(value, key))
        if pattern.rest is not None:
            self.names[pattern.rest] = _rest(value, pattern.keys)

    def MatchClass(self, pattern: Any, value: Any) -> None:
        cls = self.low.resolve(pattern.cls)
        if not isinstance(cls, type):
            raise self.low.refuse("a pattern of a class that is not known when compiling", pattern)
        self.tests.append(self._call("isinstance", isinstance, value, pattern.cls))
        for name, part in self._parts(pattern, cls):
            if name is None:
                self.of(part, value)
                continue
            if not _has(cls, name):
                self.tests.append(self._call("hasattr", hasattr, value, core.constant(name)))
            self.of(part, core.attribute(value, name))

    def _parts(self, pattern: Any, cls: type) -> Iterator[tuple[str | None, Any]]:
        """The patterns in a class pattern, and the attribute that each is for; None for the value itself."""
        names: Any = getattr(cls, "__match_args__", ())
        if pattern.patterns and issubclass(cls, _WHOLE) and "__match_args__" not in vars(cls):
            names = (None,)
        if len(pattern.patterns) > len(names):
            raise self.low.refuse(f"a pattern of {cls.__name__} with {len(pattern.patterns)} positional parts", pattern)
        yield from zip(names, pattern.patterns)
        yield from zip(pattern.kwd_attrs, pattern.kwd_patterns)

    def _call(self, hint: str, function: Any, *args: Any) -> Any:
        return gast.Call(self.low.bind(hint, function), list(args), [])


def _rest(mapping: Any, keys: list[Any]) -> Any:
    """The items of a mapping under other keys."""
    key, item = "key·", "item·"
    targets = gast.Tuple([core.name(key, gast.Store), core.name(item, gast.Store)], gast.Store())
    items = gast.Call(core.attribute(mapping, "items"), [], [])
    other = gast.Compare(core.name(key), [gast.NotIn()], [gast.Tuple(keys, gast.Load())])
    return gast.DictComp(core.name(key), core.name(item), [gast.comprehension(targets, items, [other], 0)])


def _has(cls: Any, name: str) -> bool:
    """Whether every instance of a class has an attribute."""
    return hasattr(cls, name) or name in getattr(cls, "__dataclass_fields__", ())
