"""Random programs of lists that change: of pairs, of lists, and of numbers, in loops and branches.

They are programs of generator.py with a list `P` of pairs, a list `Q` of lists, and a list `T` of numbers. `t` is an
item of P, and `r` one of Q, which stay in use while the lists get longer, shorter, and other items. Branches ask
whether lists hold anything, and change them.
"""

from __future__ import annotations

from tests.programs.generator import Writer

PAIRS = [
    "P.append(({S}, {s}))", "P.append(t)", "P.insert(0, ({s}, {S}))", "P.insert({k}, t)", "P[{k}] = ({S}, {s})",
    "P[{k}] = t", "P.reverse()", "P += [t, ({s}, {s})]", "P[0], P[-1] = P[-1], P[0]", "P.extend([({S}, {s})])",
    "t = P[{k}]", "t = P[{k}]", "t = ({S}, {s})", "{s} = t[0] * 0.5 + math.sin(t[1])", "{s} = P[{k}][1] * 0.5",
    "{s}, _ = P[{k}]", "P.append((1, {s}))", "t = (t[1], P[{k}][0] * 0.5)",
]  # fmt: skip
LISTS = [
    "Q[{k}].append({S})", "Q[{k}][0] = {S}", "Q[{k}][-1] *= math.sin({s})", "r.append({s})", "r[0] = {S}",
    "r[-1] += {S}", "r = Q[{k}]", "r = Q[{k}]", "r = [{S}, {s}]", "{s} = r[-1] * 0.5 + Q[{k}][0] * 0.3",
    "Q.append([{S}])", "Q.append([2, {s}])", "Q[{k}] = [{s}, {S}]", "{s} = sum(Q[{k}]) * 0.3",
    "Q[0], Q[-1] = Q[-1], Q[0]",
    "{s} = math.sin(r[0] * r[-1])", "r[0], r[-1] = r[-1] * 0.5, r[0]",
]  # fmt: skip
NUMBERS = [
    "T.append({S})", "T.insert(0, {s})", "T[{k}] = {S}", "T[{k}] *= {s}", "T += [{s}, {S}]", "{s} = sum(T) * 0.3",
    "T.reverse()", "T.clear()", "T = [{S}]", "T = [1, 2]", "T.append(n)",
]  # fmt: skip
TAKEN = {
    "P": ["{s}, {s} = P.pop()", "t = P.pop()", "t = P.pop(0)", "{s} = P.pop(0)[1]", "P.pop()", "del P[0]"],
    "Q": ["r = Q.pop()", "{s} = Q.pop(0)[0]", "Q.pop()", "Q.pop().append({s})"],
    "r": ["{s} = r.pop()", "r.pop(0)", "r.pop()"],
    "T": ["{s} = T.pop()", "T.pop(0)", "{s} = T.pop(0) * {s}"],
}
TRUTHS = ["T", "T", "not T", "n > 1 and T", "T or n > 1", "T[1:]", "P[2:]", "not P[3:]"]
RESULTS = [
    "P[0][0] * P[-1][1]", "t[0] * t[1] * 0.5", "Q[-1][-1] * Q[0][0]", "r[0] + r[-1]", "sum(T)", "a * 0.5", "b + c",
    "len(P) * P[-1][0]", "sum([x * y for x, y in P])",
]  # fmt: skip


class ListWriter(Writer):
    """Writes programs of lists that change."""

    length = 3, 7

    def write_start(self) -> None:
        super().write_start()
        self.lines += ["    P = [(a, b), (c, a * 0.5)]", "    Q = [[a * 0.5], [b, c]]", "    T = [b]"]
        self.lines += ["    t = P[-1]", "    r = Q[0]"]

    def result(self) -> str:
        return " + ".join(self.shuffled(RESULTS)[: self.random.randint(2, 4)])

    def options(self, room: int, loop: bool) -> list[str]:
        options = ["scalar", "scalar", *["pairs"] * 6, *["lists"] * 4, *["numbers"] * 2, *["taken"] * 3, "taken_if"]
        if room > 0:
            options += ["if", "for", "for", "for", "while", "truth", "truth", "emptied", "all_pairs"]
        if loop:
            options += ["break", "continue", "return"]
        return options

    def place(self, key: str) -> str:
        if key[0] == "S":
            return self.scalar()
        if key[0] == "k":
            return self.choose(["0", "-1", "-1", "-2", "1", "n % 2", *(f"{i} % 2" for i in self.indices[-1:])])
        return super().place(key)

    def write_pairs(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, self.filled(self.choose(PAIRS)), "pairs")

    def write_lists(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, self.filled(self.choose(LISTS)), "lists")

    def write_numbers(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, self.filled(self.choose(NUMBERS)), "numbers")

    def write_taken(self, depth: int, room: int, loop: bool) -> None:
        kind = self.choose(["P", "P", *TAKEN])
        self.add(depth, f"if len({kind}) > {0 if kind == 'T' else 2 if kind == 'P' else 1}:", "taken")
        self.add(depth + 1, self.filled(self.choose(TAKEN[kind])), "taken")

    def write_taken_if(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, self.filled(f"{{s}} = T.pop() if {self.choose(['T', 'T', 'n and T'])} else {{S}}"), "taken_if")

    def write_truth(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"if {self.choose(TRUTHS)}:", "truth")
        self.add(depth + 1, self.filled(self.choose(NUMBERS)), "truth")
        self.block(depth + 1, room - 1, loop)
        if self.often(2):
            self.add(depth, "else:", "truth")
            self.add(depth + 1, self.filled(self.choose([*NUMBERS, *PAIRS])), "truth")

    def write_emptied(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, "while T:", "emptied")
        self.add(depth + 1, self.filled("{s} = {s} * 0.5 + T.pop()"), "emptied")
        self.add(depth + 1, self.filled(self.choose(PAIRS)), "emptied")

    def write_all_pairs(self, depth: int, room: int, loop: bool) -> None:
        x, y = self.fresh("x"), self.fresh("y")
        self.add(depth, f"for {x}, {y} in {self.choose(['P', 'P[:]', 'P[::-1]', 'P[1:]'])}:", "all_pairs")
        self.add(depth + 1, self.filled(f"{{s}} = {{s}} * 0.5 + math.sin({x}) * {y}"), "all_pairs")
        self.add(depth + 1, self.filled(self.choose([*LISTS, *NUMBERS, "{s} = {S}"])), "all_pairs")
