"""Random programs of exceptions: `try` in loops and around them, and what raises in it.

They are programs of generator.py in which tests, items, arithmetic, decompositions and helpers raise, here and there,
what is handled around them, or by nobody. Blocks end in jumps, handlers raise again, `else` and `finally` take part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.programs.generator import Writer

# What may raise, with the exception that it raises.
RAISING = {
    "ValueError": [
        "{s} = math.sqrt({s})", "{s} = math.log({s} + 1.0137)", "{s} = checked({s}, {b})", "{s} = {s} + roots({a})",
        "{s} = whole({a}, {s})", "{s} = lenient({a}, {s})", "{s} = sum([checked(x, {b}) for x in {a}])",
        "{s} = {s} + drawn({a})", "{s} = math.asin({s} * 0.7)", "{a} = {a}[:{k}] + {a}[:3]",
    ],
    "IndexError": [
        "{s} = {a}[{k}]", "{s} = {a}[{k}] * {s}", "{s} = rows[{k}][0]", "{s} = {s} * pair[1][{k}]",
        "{s} = [{s}, {s}][{k}]", "{s} = {m}[{k}, 1]", "{s}, {s} = rows[{k}]", "{a} = {m}[{k}] * {s}",
    ],
    "KeyError": [
        "{s} = knobs[{t}]", "{s} = rates[{t}] * {s}", "{s} = {'p': {s}, 'q': {s}}[{t}]", "{s} = chosen({s}, {t})",
    ],
    "ZeroDivisionError": ["{s} = 1 / ({k} - 1) * {s}", "{s} = {s} + {k} // n * {s}", "{s} = {s} * (2 % {k})"],
    "np.linalg.LinAlgError": [
        "{m} = np.linalg.cholesky({m} @ {m}.T + {s} * np.eye(4))", "{s} = np.linalg.cholesky(np.outer({a}, {a}))[0, 0]",
        "{m} = np.linalg.inv({m} * 0.1 + {k} * np.eye(4))", "{a} = np.linalg.solve(np.eye(4) * {k}, {a})",
    ],
    "RuntimeError": ["{s} = {s} * retried({s}, {k})"],
    }  # fmt: skip
RAISED = [
    "raise ValueError", "raise ValueError({t})", "raise KeyError({t})", "raise RuntimeError('it failed')",
    "raise ArithmeticError({k})", "raise AssertionError", "raise IndexError",
]  # fmt: skip
HANDLED = [
    "ValueError", "ValueError", "IndexError", "KeyError", "LookupError", "(ValueError, KeyError)", "ZeroDivisionError",
    "ArithmeticError", "AssertionError", "(IndexError, AssertionError, RuntimeError)", "np.linalg.LinAlgError",
    "Exception", "Exception", "Exception", "RuntimeError",
]  # fmt: skip
# What a handler of a class takes, of what may raise and of what is raised.
TAKES = {
    "LookupError": ["IndexError", "KeyError"], "ArithmeticError": ["ZeroDivisionError", "ArithmeticError"],
    "Exception": [*RAISING, "AssertionError", "RuntimeError"],
}  # fmt: skip
TRIES = """tried handler named raise raising test loop_test finally reraised chained each_item keys retry in_turns bare
try_else jump_in_finally closure""".split()


class TryWriter(Writer):
    """Writes programs of exceptions."""

    length = 2, 4
    open: tuple[str, ...] = ()  # the exceptions that are handled around

    @contextmanager
    def handling(self, handlers: Sequence[str]) -> Iterator[None]:
        """The body of a `try` with handlers of these classes."""
        before, named = (
            self.open,
            [name for handler in handlers for name in re.findall(r"[\w.]+", handler or "Exception")],
        )
        self.open += tuple(kind for name in named for kind in TAKES.get(name, [name]))
        try:
            yield
        finally:
            self.open = before

    def options(self, room: int, loop: bool) -> list[str]:
        options = ["scalar"] * 4 + ["array", "augmented", "conditional", "list"]
        options += ["raising"] * 6 + ["raise", "test"] * 2 if self.open or self.often(12) else []
        if room > 0:
            options += ["tried"] * 10 + ["if", "for", "for", "rows", "while", "each_item", "each_item", "keys", "retry"]
            options += ["for_else", "in_turns", "forever", "errstate", "closure"]
        if loop:
            options += ["break", "continue", "return", "loop_test"]
        return options

    def place(self, key: str) -> str:
        if key[0] == "k":
            counts = [
                "n",
                "n + 3",
                "1",
                "2 - n",
                *(f"{i} + {self.random.randint(0, 2)}" for i in self.indices[-2:] * 3),
            ]
            return self.choose(counts)
        if key[0] == "t":
            return self.choose(["'rate'", "'x'", "'p'", "'q'", "'none'"])
        if key[0] == "b":
            return self.bound()
        return super().place(key)

    def statement(self, depth: int, room: int, loop: bool) -> None:
        """At the outermost level, most of what is not handled is."""
        if depth > 1 or self.often(3):
            super().statement(depth, room, loop)
            return
        self.add(depth, "try:", "tried")
        with self.handling(["Exception"]):
            super().statement(depth + 1, room, loop)
        self.add(depth, f"except {self.choose(['Exception', 'Exception', '(LookupError, ValueError)'])}:", "handler")
        self.add(depth + 1, f"{self.name('s')} = {self.scalar()}", "assign")

    # --- what raises ---

    def write_raising(self, depth: int, room: int, loop: bool) -> None:
        kind = self.choose([kind for kind in RAISING if kind in self.open or self.often(8)] or ["ValueError"])
        self.add(depth, self.filled(self.choose(RAISING[kind])), "raising")

    def write_raise(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.condition()}:", "if")
        if self.often(3):
            self.add(depth + 1, f"{self.name('s')} = {self.scalar()}", "assign")
        handled = [kind for kind in RAISED if kind[6:].split("(")[0] in self.open or self.often(10)]
        self.add(depth + 1, self.filled(self.choose(handled or RAISED)), "raise")

    def write_test(self, depth: int, room: int, loop: bool) -> None:
        message = self.choose(["", "", ", 'a text'", f", {self.name('s')}"])
        self.add(depth, f"assert {self.condition()}{message}", "test")

    def write_loop_test(self, depth: int, room: int, loop: bool) -> None:
        test = f"{self.indices[-1]} != {self.choose(['0', '1', 'n'])}" if self.indices else self.condition()
        self.add(depth, f"assert {test}", "loop_test")

    # --- what handles ---

    def write_tried(self, depth: int, room: int, loop: bool) -> None:
        handlers = self.handlers(self.random.randint(0 if self.often(6) else 1, 2))
        self.add(depth, "try:", "tried")
        with self.handling(handlers):
            self.ending(depth + 1, room - 1, loop, one_in=4)
        for handler in handlers:
            self.write_handler(depth, room, loop, handler)
        if handlers and self.often(4):
            self.add(depth, "else:", "try_else")
            self.ending(depth + 1, room - 1, loop, one_in=5)
        if not handlers or self.often(4):
            self.add(depth, "finally:", "finally")
            self.block(depth + 1, 0, False)
            if loop and self.often(30):
                self.add(depth + 1, self.choose(["break", "continue"]), "jump_in_finally")

    def handlers(self, count: int) -> list[str]:
        """The classes of handlers; the last one may take all."""
        return [self.choose(HANDLED) for _ in range(count - 1)] + [self.choose([*HANDLED, ""])][:count]

    def write_handler(self, depth: int, room: int, loop: bool, handler: str) -> None:
        named = bool(handler) and self.often(4)
        head = f"except {handler}{' as error' if named else ''}:" if handler else "except:"
        self.add(depth, head, "named" if named else "handler" if handler else "bare")
        if self.often(5):
            self.add(depth + 1, f"{self.name('s')} = {self.scalar()}", "assign")
            self.write_reraised(depth + 1, named)
            return
        if named:
            self.add(depth + 1, f"{self.name('s')} = {self.scalar()} + 0.1 * len(error.args)", "named")
        self.ending(depth + 1, room - 2, loop, one_in=2)

    def write_reraised(self, depth: int, named: bool) -> None:
        guarded = self.often(2)
        if guarded:
            self.add(depth, f"if {self.condition()}:", "if")
        kind = self.choose(["raise", "raise", "raise RuntimeError('again')", "raise KeyError from None"])
        kind = "raise ValueError('other') from error" if named and self.often(3) else kind
        self.add(depth + guarded, kind, "chained" if " " in kind else "reraised")

    def ending(self, depth: int, room: int, loop: bool, one_in: int) -> None:
        """A block that jumps at its end, now and then; a short one, or one of `pass` too."""
        if self.often(8):
            self.add(depth, "pass", "effect")
        else:
            self.block(depth, max(room, 0), loop)
        if self.often(one_in) and (loop or self.often(3)):
            value = f"return {self.name('s')} * 0.5 + {self.scalar()}"
            jump = self.choose(["break", "break", "continue", "continue", value]) if loop else value
            self.add(depth, jump, jump.split()[0])

    # --- loops that are likely to be left by what they meet ---

    def write_each_item(self, depth: int, room: int, loop: bool) -> None:
        """A loop in a `try`, what is behind it, and its `else`."""
        handlers = [self.choose(["ValueError", "(ValueError, AssertionError)"]), self.choose([*HANDLED, ""])]
        self.add(depth, "try:", "tried")
        with self.handling(handlers):
            self.write_checked(depth, room, loop)
        for handler in handlers:
            self.write_handler(depth, room, loop, handler)
        if self.often(3):
            self.add(depth, "else:", "try_else")
            self.block(depth + 1, 0, loop)

    def write_checked(self, depth: int, room: int, loop: bool) -> None:
        x = self.fresh("x")
        head, item = self.choose([
            (f"for {x} in {self.name('a')}:", x), (f"for {x} in range(4):", f"0.3 * {x}"),
            (f"for {x}, _ in zip({self.name('a')}, rows):", x), (f"for {x}, _ in rows:", x),
            (f"for {x} in drawings({self.name('a')}):", x), (f"for {x} in [a, b, c]:", x),
        ])  # fmt: skip
        self.add(depth + 1, head, "each_item")
        if "range" in head:
            self.indices.append(x)
        checks = [
            f"assert {x} > {self.bound()}", f"if {x} < {self.bound()}: raise ValueError({self.choose(['', x])})",
            f"{{s}} = checked({x} * 1.0, {{b}})", f"{{s}} = {{s}} + math.sqrt({x} + 0.3)",
        ]  # fmt: skip
        self.add(depth + 2, self.filled(f"{{s}} = {{s}} * 0.6 + {item}"), "each_item")
        self.add(depth + 2, self.filled(self.choose(checks)), "each_item")
        self.ending(depth + 2, room - 2, True, one_in=5)
        if "range" in head:
            self.indices.pop()
        if self.often(3):
            self.add(depth + 1, "else:", "loop else")
            self.block(depth + 2, 0, loop)
        self.ending(depth + 1, room - 2, loop, one_in=6)

    def write_keys(self, depth: int, room: int, loop: bool) -> None:
        key = self.fresh("key")
        self.add(depth, "try:", "tried")
        self.add(
            depth + 1, f"for {key} in {self.choose(['rates', '''('rate', 'bias')''', '''('x', 'y', 'z')'''])}:", "keys"
        )
        values = f"{{s}} = {{s}} * 0.5 + {self.choose(['rates', 'knobs'])}[{key}]"
        self.add(depth + 2, self.filled(f"{values} * 0.3"), "keys")
        self.block(depth + 2, 0, True)
        self.block(depth + 1, 0, loop)
        self.add(
            depth, f"except {self.choose(['KeyError', 'KeyError', 'LookupError', '(KeyError, TypeError)'])}:", "keys"
        )
        self.ending(depth + 1, 0, loop, one_in=2)

    def write_retry(self, depth: int, room: int, loop: bool) -> None:
        """What is tried until it comes out."""
        count = self.fresh("k")
        self.add(depth, f"{count} = 0", "retry")
        self.add(depth, f"while {self.choose(['True', f'{count} < 4'])}:", "retry")
        self.add(depth + 1, "try:", "tried")
        self.add(depth + 2, f"{count} += 1", "retry")
        self.add(depth + 2, f"if {count} < {self.random.randint(1, 3)}:", "retry")
        self.add(depth + 3, "raise RuntimeError", "raise")
        with self.handling(["RuntimeError"]):
            self.block(depth + 2, 0, False)
        self.add(depth + 2, self.choose(["break", f"return {self.scalar()}", "break"]), "retry")
        self.add(depth + 1, f"except {self.choose(['RuntimeError', '(RuntimeError, ValueError)'])}:", "retry")
        self.add(depth + 2, f"if {count} > 3: break", "retry")  # a failure of another cause may come each time
        self.block(depth + 2, 0, False)
        self.add(depth + 2, self.choose(["continue", "pass", f"if {count} > 3: raise"]), "retry")
        if self.often(3):
            self.add(depth + 1, "finally:", "finally")
            self.add(depth + 2, f"{self.name('s')} *= 0.9", "retry")
        self.add(depth + 1, f"if {count} > 3: break", "retry")

    def write_in_turns(self, depth: int, room: int, loop: bool) -> None:
        """A loop in which some rounds fail."""
        index = self.fresh("i")
        self.add(depth, f"for {index} in range({self.random.randint(2, 4)}):", "in_turns")
        self.indices.append(index)
        self.add(depth + 1, "try:", "tried")
        self.add(depth + 2, f"if {index} {self.choose(['== 0', '== 1', '% 2', '> 1'])}: raise KeyError", "in_turns")
        handler = self.choose(["KeyError", "KeyError", "Exception"])
        with self.handling([handler]):
            self.ending(depth + 2, room - 2, True, one_in=3)
        self.add(depth + 1, f"except {handler}:", "in_turns")
        self.ending(depth + 2, room - 2, True, one_in=2)
        if self.often(3):
            self.add(depth + 1, "else:", "try_else")
            self.ending(depth + 2, 0, True, one_in=3)
        if self.often(3):
            self.add(depth + 1, "finally:", "finally")
            self.add(depth + 2, f"{self.name('s')} = {self.name('s')} * 1.1 - {self.name('s')}", "in_turns")
        self.block(depth + 1, 0, True)
        self.indices.pop()

    def write_closure(self, depth: int, room: int, loop: bool) -> None:
        """A function within, which raises and handles."""
        inner, number = self.fresh("inner"), self.name("s")
        self.add(depth, f"def {inner}(p, q=0.3):", "closure")
        self.add(depth + 1, "for x in (p, q, p * q):", "closure")
        self.add(depth + 2, f"if x > {self.bound()}:", "closure")
        self.add(depth + 3, self.choose(["raise ValueError", "return x", "raise KeyError('it')", "break"]), "closure")
        self.add(depth + 2, f"q = q + x * {number}", "closure")
        self.add(depth + 1, "return p * q", "closure")
        self.add(depth, f"{self.name('s')} = {inner}({self.name('s')})", "closure")
