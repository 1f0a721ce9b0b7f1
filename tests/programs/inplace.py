"""Random programs that write in place: through views, aliases, containers and calls, in loops that are left early.

They are programs of generator.py with more names for arrays of four, of which any two may share memory, a list `L` and
a dict `D` of such arrays, and statements that write. What is read and written is a *region*, a template by the length
of what it stands for. Numbers stay small: factors are bounded, powers are small.
"""

from __future__ import annotations

from tests.programs.generator import Writer

# Names and places of one number. In templates {i} is an index, {I} is one that leaves room for three more.
ITEMS = [
    "{a}[{i}]", "{a}[{i}]", "{a}[{i}]", "{a}[-1]", "{a}[n]", "{a}[picks[1]]", "{a}.flat[{i}]", "{a}[1:][1]",
    "{a}[::-1][1:][0]", "{m}[1, {i}]", "{m}[n][{i}]", "{m}.T[1][{i}]", "{m}.T[{i}, 2]", "{m}.flat[7]",
    "{m}.reshape(-1)[5]", "{m}[{i}, {i}]", "L[0][{i}]", "L[-1][n]", "D['p'][{i}]", "pair[1][{i}]", "knobs['bias'][2]",
    "weights[1][{i}]",
]  # fmt: skip
REGIONS = {
    2: [
        "{a}[:2]", "{a}[::2]", "{a}[2:]", "{a}[1:3]", "{a}[::-2]", "{a}[..., 1:3]", "{a}[[1, 3]]", "{a}[[2, 2]]",
        "{a}[1:][:2]", "{a}.reshape(2, 2)[1]", "{a}.reshape(2, 2).T[0]", "{m}[1, :2]", "{m}[:2, n]",
        "{m}[[0, 1], [1, 1]]", "{m}[::-2, 1]", "L[0][1:3]",
    ],
    3: [
        "{a}[1:]", "{a}[1:]", "{a}[:-1]", "{a}[:-1]", "{a}[:0:-1]", "{a}[2::-1]", "{a}[[0, 2, 2]]", "{m}[1, 1:]",
        "{m}.T[2][:3]", "{m}.T[2, 1:]", "tail({a})[:]", "tail({m}[1])[:]", "{a}.flat[1:]", "D['q'][:3]",
    ],
    4: [
        "{a}[:]", "{a}[...]", "{a}[::-1]", "{a}[picks]", "{a}[[3, 1, 0, 2]]", "{m}[1]", "{m}[:, 2]", "{m}.T[n]",
        "{m}[-1, ::-1]", "{m}[picks, 1]", "{m}.reshape(-1)[4:8]", "{m}.T.reshape(-1)[4:8]", "{m}.ravel()[1:5]",
        "{m}.flat[3:7]", "{a}.T[::-1]", "{a}[None][0]", "{m}[range(4), picks]", "L[0][:]", "L[-1][::-1]", "D['q'][:]",
        "tail({m})[1]",
    ],
}  # fmt: skip
# Names that an augmented assignment may stand to the right of, all arrays of four.
WHOLE = ["{a}", "{a}", "{a}", "L[0]", "L[-1]", "D['p']", "D['q']", "weights[1]", "knobs['bias']"]
VALUES = ["{S}", "{R}", "{R} * {s}", "np.sin({R})", "0.5 * {R} + {s}", "np.tanh({R}) * {R}", "{R} * {R}"]
BOUNDED = ["(0.5 + 0.3 * np.tanh({V}))", "np.cos({V})", "np.sin({V})", "0.7", "{s}"]

ALIASES = {
    "a": [
        "{a}", "{a}[::-1]", "{a}[:]", "{m}[1]", "{m}.T[n]", "{m}[:, 2]", "{m}[{i}]", "{m}.reshape(-1)[4:8]",
        "{m}.T.reshape(-1)[4:8]", "{a}.reshape(4)", "np.asarray({a})", "L[0]", "L[-1]", "D['p']", "np.flip({a})",
        "{a}.T", "{a}.reshape(2, 2)[::-1].reshape(-1)", "np.ravel({a})", "knobs['bias']", "pair[1]", "weights[1]",
        "[{a}, {a}][n % 2]", "relax({a}, {s})", "push({a}, {S})", "np.ravel({m}, order='F')[4:8]",
        "np.asfortranarray({m}).ravel()[2:6]", "np.einsum('ii->i', {m})", "np.ascontiguousarray({a}[::-1])",
    ],
    "m": ["{m}", "{m}.T", "{m}[::-1]", "{m}[:, ::-1]", "np.transpose({m})"],
}  # fmt: skip
FRESH = [
    "{a}.copy()", "np.zeros(4)", "np.zeros_like({a})", "np.ones(4)", "np.array({a})", "{a} * 1.0", "np.full(4, 0.3)",
    "np.empty_like({a})",
]  # fmt: skip

CALLS = {
    "at": [
        "np.add.at({a}, picks, {V4})", "np.add.at({a}, [0, 0, 2], {V3})", "np.subtract.at({a}, [1, 1], {S})",
        "np.add.at({m}, ([0, 0], [{i}, {i}]), {V2})",
    ],
    "copyto": ["np.copyto({a}, {V4})", "np.copyto({R4v}, {S})", "np.copyto({a}, {V4}, where={a} > {B})"],
    "put": [
        "np.put({a}, [1, 1, 3], {V3})", "np.put({m}, [5, 2], {S})", "{a}.put([0, 2], {V2})",
        "np.put({a0}, picks, {a0}[::-1])",
    ],
    "nothing": ["{a}[4:] = {S}", "{a}[:0] *= {s}", "{m}[:, 4:] += {s}"],
    "in step": ["{a0}[1:] = {a0}[:-1]", "{a0}[::2] = {a0}[:2]", "{a0}[1:3] = {a0}[::-2]", "{m0}[1] = {m0}[:, 0]"],
    "putmask": ["np.putmask({a}, {a} > {B}, {S})", "np.fill_diagonal({m}, {S})"],
    "fill": ["{a}.fill({S})", "{m}[1].fill({S})"],
    "out": [
        "np.sin({V4}, out={a})", "np.multiply({a}, {s}, out={a})", "np.add({V3}, {R3}, out={a}[1:])",
        "np.add({a}, {a}, out={a})", "np.exp(-{a0} * {a0}, out={a})", "np.subtract({V4}, {a}, out={a})",
        "np.tanh({a0}, {a0})", "np.multiply({m}, {a}, out={m})",
    ],
    "sort": ["{a}.sort()"],
    "writing call": [
        "scale_into({a}, {s})", "scale_into({R3v}, {s})", "push({a}, {S})", "relax({a}, {s})", "relax({R3v}, {s})",
        "blend_into({a}, {a})", "blend_into({a0}, {a0}[::-1])", "blend_into({a0}[1:], {a0}[:-1])",
        "fill_all(L, {s})", "fill_all([{a}, {a}], {s})",
    ],
}  # fmt: skip

CONTAINERS = {
    "list item": ["L[0] = {a}", "L[-1] = {V4}", "L[n % 2], L[0] = L[0], L[n % 2]", "L[0], L[1] = L[1], L[0]"],
    "list growth": ["L.append({a})", "L.append({V4})", "L.extend([{a}, {a}])", "L += [{a}]", "L.insert(0, {a})"],
    "list read": ["{s} = {s} * 0.5 + L[-1][{i}]", "{a} = L[n % 2] + {a}", "{s} = np.sum(L[0]) * 0.3", "L.reverse()"],
    "dict item": ["D['p'] = {a}", "D['q'] = {V4}", "D['p'], D['q'] = D['q'], D['p']", "D['r'] = {a}; D['r'] *= {s}"],
    "dict number": ["D['s'] = {S}", "D['s'] *= {s}", "D['s'] += {S}", "{s} = D['s'] * 0.5", "knobs['rate'] = {S}"],
    "argument container": ["weights[0] = {S}", "weights.append({s})", "weights[1] = {a}", "rows[0] = ({s}, {s})"],
    "numbers": ["T.append({S})", "T[0] = {S}", "T[-1] *= {s}", "T += [{s}, {s}]", "{s} = sum(T) * 0.3"],
}  # fmt: skip

STARTS = ["u", "u.copy()", "np.zeros(4)", "v", "u[::-1]", "m[0]", "v * 0.5", "np.ones(4)", "u * b"]
RESULTS = [
    "np.sum(np.sin(x) * y)", "np.sum(u * v)", "np.sum(L[0]) * a", "L[-1] @ x * 0.3", "np.sum(D['p'] * D['q'])",
    "np.sum(np.tanh(m) * q)", "D['s'] * 0.5", "sum(T)", "np.sum(y ** 2)", "x[n] * c", "np.mean(q) * b",
    "np.sum(knobs['bias']) * pair[1][0]",
]  # fmt: skip

WRITES = """item item item region region region whole whole mask block power call call call call container container
container container container container pop several several number_or_array alias alias choice view swap fresh
zero_d""".split()
# What all constructs of in-place code are counted as.
INPLACE = [
    *"item region whole mask block power pop several number_or_array cells in_turn late swap choice fresh view".split(),
    "zero-d", *CALLS, *CONTAINERS,
]  # fmt: skip


class InplaceWriter(Writer):
    """Writes programs that write in place.

    views: names of this block's views, by their length.
    """

    length = 3, 7

    def __init__(self, seed: int, nesting: int = 3) -> None:
        super().__init__(seed, nesting)
        self.names = {**self.names, "a": ["u", "v", "x", "y"]}
        self.views: dict[int, list[str]] = {2: [], 3: []}

    def write_start(self) -> None:
        super().write_start()
        first, second = self.choose(STARTS), self.choose(["x", *STARTS])
        self.lines += [f"    x = {first}", f"    y = {second}", f"    L = [{self.choose(['x', 'x', 'v'])}, v * a]"]
        self.lines += [f"    D = {{'p': {self.choose(['y', 'u * 0.5'])}, 'q': v.copy(), 's': a}}", "    T = [b]"]

    def result(self) -> str:
        return " + ".join(self.shuffled(RESULTS)[: self.random.randint(2, 4)])

    def options(self, room: int, loop: bool) -> list[str]:
        options = self.random.sample(super().options(room, loop), 8)
        if room > 0:
            options += ["for", "for", "while", "if", "forever", *["cells", "in_turn", "late"] * 2]
        if loop:
            options += ["break", "continue", "return", "choice", "swap", "alias"]
        return options + WRITES

    def block(self, depth: int, room: int, loop: bool) -> None:
        known = {length: list(views) for length, views in self.views.items()}
        super().block(depth, room, loop)
        self.views = known

    # --- places of templates ---

    def place(self, key: str) -> str:
        kind, length = key[0], int(key[1]) if key[1:2].isdigit() else 4
        if kind == "S":
            return self.scalar()
        if kind == "B":
            return self.bound()
        if kind == "i":
            return self.choose([*self.indices * 3, *"0123"])
        if kind == "V":
            return self.value(length)
        if kind == "R":
            return self.view(length) if key.endswith("v") else self.region(length)
        return super().place(key)

    def region(self, length: int) -> str:
        if length == 1:
            return self.filled(self.choose(ITEMS))
        if length == 16:
            return self.name("m")
        known = self.views.get(length, []) * 4
        return self.filled(self.choose([*REGIONS[length], *known, *(["{a}"] * 8 if length == 4 else [])]))

    def view(self, length: int) -> str:
        """A region that is a view for certain."""
        views = {2: ["{a}[:2]"], 3: ["{a}[1:]", "{a}[:-1]"], 4: ["{a}[::-1]", "{m}[1]"]}
        return self.filled(self.choose(views[length]))

    def value(self, length: int, templates: list[str] = VALUES) -> str:
        """An expression that fits to a region of this length."""
        return self.filled(self.choose(templates).replace("{R}", f"{{R{length}}}").replace("{V}", f"{{R{length}}}"))

    def change(self, length: int, plain: bool) -> str:
        """What an assignment does to a region: the operator and the right side."""
        op = self.choose(["=", "=", "+=", "-=", "*=", "/=", "**="] if plain else ["+=", "+=", "-=", "*=", "/=", "**="])
        if op == "*=":
            return f"{op} {self.value(length, BOUNDED)}"
        if op == "/=":
            return f"{op} (1.7 + np.sin({self.value(length)}))"
        return f"{op} 2" if op == "**=" else f"{op} {self.value(length)}"

    # --- statements that write ---

    def write_item(self, depth: int, room: int, loop: bool) -> None:
        if self.indices and self.often(2):
            i = self.indices[-1]
            value = self.choose([f"0.5 * {{a0}}[{i} - 1] + {{S}}", f"np.sin({{a0}}[{i}])", f"{{a0}}[{i}] ** 2"])
            self.add(depth, self.filled(f"{{a0}}[{i}] = {value}"), "item")
        else:
            self.add(depth, f"{self.region(1)} {self.change(1, True)}", "item")

    def write_region(self, depth: int, room: int, loop: bool) -> None:
        length = self.random.randint(2, 4)
        target = self.filled(self.choose([*REGIONS[length], *(f"{v}[:]" for v in self.views.get(length, []))]))
        self.add(depth, f"{target} {self.change(length, True)}", "region")

    def write_whole(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, f"{self.filled(self.choose(WHOLE))} {self.change(4, False)}", "whole")

    def write_view(self, depth: int, room: int, loop: bool) -> None:
        length = self.random.randint(2, 3)
        if self.views[length] and self.often(2):
            self.add(depth, f"{self.choose(self.views[length])} {self.change(length, False)}", "view")
        else:
            name = self.fresh("part")
            self.add(depth, f"{name} = {self.region(length)}", "view")
            self.views[length].append(name)
            if self.often(2):
                self.add(depth, f"{name} {self.change(length, False)}", "view")

    def write_mask(self, depth: int, room: int, loop: bool) -> None:
        a, test = self.name("a"), f"{self.name('a')} {self.choose('<>')} {self.bound()}"
        if self.often(2):
            mask = self.fresh("mask")
            self.add(depth, f"{mask} = {test}", "mask")
            other = self.name("a")
            changes = [f"{a}[{mask}] = np.sin({other}[{mask}])", f"{a}[~{mask}] -= {other}[~{mask}] * {self.name('s')}"]
            self.add(depth, self.choose(changes), "mask")
        else:
            change = self.choose([f"= {self.scalar()}", f"*= {self.name('s')}", f"+= {self.scalar()}", "**= 2"])
            self.add(depth, f"{a}[{test}] {change}", "mask")

    def write_block(self, depth: int, room: int, loop: bool) -> None:
        """Of a matrix."""
        target = self.choose(["{m}[:]", "{m}.T[:]", "{m}[::-1]", "{m}[..., ::-1]", "{m}[:]"])
        value = self.choose(["{m} * 0.5", "{a}", "{a}[:, None]", "{s}", "np.sin({m})", "{m}.T"])
        part = self.choose(["{m}[1:3, :2]", "{m}[:2][:, 2:]", "{m}[:2, ::2]", "{m}[[0, 2, 2]]"])
        whole = [f"{target} {self.choose(['=', '+=', '-='])} {value}", "{m} *= 0.6", f"{{m}} += {value}"]
        change = self.choose([*whole, f"{part} {self.change(1, True)}"])
        self.add(depth, self.filled(change), "block")

    def write_power(self, depth: int, room: int, loop: bool) -> None:
        """Updates of values that their own derivative needs."""
        self.add(depth, self.filled(self.choose(["{a0} *= {a0}", "{a0} *= {a0}[::-1]", "{a0} /= 1.0 + {a0} ** 2",
            "{a0}[:] = np.sin({a0}) * {a0}", "{a0}[:-1] += {a0}[1:]", "{a0}[1:] *= {a0}[:-1]", "{a0} **= 2",
            "{a0}[::-1] += {a0}"])), "power")  # fmt: skip

    def write_call(self, depth: int, room: int, loop: bool) -> None:
        kind = self.choose(list(CALLS))
        self.add(depth, self.filled(self.choose(CALLS[kind])), kind)

    def write_container(self, depth: int, room: int, loop: bool) -> None:
        kind = self.choose(list(CONTAINERS))
        self.add(depth, self.filled(self.choose(CONTAINERS[kind])), kind)

    def write_pop(self, depth: int, room: int, loop: bool) -> None:
        self.add(depth, "if len(L) > 2:", "pop")
        ways = ["{a} = L.pop()", "{a} = L.pop(0)", "L.pop()[1] = {s}", "del L[1]"]
        self.add(depth + 1, self.filled(self.choose(ways)), "pop")

    def write_number_or_array(self, depth: int, room: int, loop: bool) -> None:
        if self.often(2):
            either, op = self.fresh("t"), self.choose(["+=", "-=", "*="])
            lines = [f"{either} = {{a}} if {self.condition()} else {{s}}", f"{either} {op} {{s}}"]
            lines += [f"{{s}} = np.sum({either}) * 0.3"]
        else:
            lines = [self.choose(["{s} = raised({s})", "{a} = raised({a})"])]
        for line in lines:
            self.add(depth, self.filled(line), "number_or_array")

    def write_zero_d(self, depth: int, room: int, loop: bool) -> None:
        one, same, place = self.fresh("z"), self.fresh("z"), self.choose(["", "[...]", "[()]"])
        first = self.choose(["np.array({S} * 1.0)", "np.array({s})", "{a}[{i}, ...]", "{m}[1, n, ...]"])
        lines = [
            f"{one} = {first}",
            f"{same} = {one}{self.choose(['', '[...]'])}",
            f"{same}{place} {self.choose(['+=', '*=', '='] if place else ['+=', '*='])} {{s}}",
        ]
        for line in [*lines, f"{{s}} = {one} * 0.5"]:
            self.add(depth, self.filled(line), "zero-d")

    def write_several(self, depth: int, room: int, loop: bool) -> None:
        """Several views at once, and a write through one of them."""
        first, second = self.fresh("part"), self.fresh("part")
        both = self.choose(
            ["np.split({a}, 2)", "np.split({m}[1], 2)", "halves({a})", "{a}.reshape(2, 2)", "[{a}[:2], {a}[2:]]"]
        )
        self.add(depth, f"{first}, {second} = {self.filled(both)}", "several")
        self.views[2] += [first, second]
        self.add(depth, f"{first} {self.change(2, False)}", "several")

    # --- aliases ---

    def write_alias(self, depth: int, room: int, loop: bool) -> None:
        kind = "m" if self.often(6) else "a"
        self.add(depth, f"{self.name(kind)} = {self.filled(self.choose(ALIASES[kind]))}", "alias")

    def write_choice(self, depth: int, room: int, loop: bool) -> None:
        """An alias decided at run time, and a write through it."""
        name, first, second = self.name("a"), self.name("a"), self.name("a")
        options = [f"{first} if {self.condition()} else {second}", f"either({first}, {second}, {self.bound()})"]
        self.add(depth, f"{name} = {self.choose(options)}", "choice")
        if self.often(2):
            self.add(depth, self.filled(f"{name}[{{i}}] = {{S}}"), "choice")

    def write_swap(self, depth: int, room: int, loop: bool) -> None:
        first, second = self.shuffled(self.names["a"])[:2]
        self.add(depth, f"{first}, {second} = {second}, {first}", "swap")
        if self.often(2):
            self.add(depth, self.filled(f"{first}[1:] = 0.5 * {second}[:-1] + {{s}}"), "swap")

    def write_fresh(self, depth: int, room: int, loop: bool) -> None:
        name, value = self.name("a"), self.filled(self.choose(FRESH))
        self.add(depth, f"{name} = {value}", "fresh")
        if "empty" in value:
            other = self.choose([a for a in self.names["a"] if a != name])
            self.add(depth, self.filled(f"{name}[:] = np.sin({other}) * {{s}}"), "fresh")

    # --- loops that write ---

    def write_cells(self, depth: int, room: int, loop: bool) -> None:
        """A recurrence along an array."""
        index = self.fresh("i")
        self.add(depth, f"for {index} in range({self.choose(['4', '1, 4', '3, -1, -1', '3'])}):", "cells")
        self.indices.append(index)
        self.write_item(depth + 1, room - 1, True)
        self.block(depth + 1, room - 1, True)
        self.indices.pop()

    def write_in_turn(self, depth: int, room: int, loop: bool) -> None:
        """A loop over arrays, which its body writes into."""
        item = self.fresh("item")
        heads = [f"{item} in L[:2]", f"{item} in [{{a}}, {{a}}]", f"{item} in {{m}}", f"_, {item} in enumerate(L[:2])"]
        heads += [f"{item}, _ in zip(L[:], [{{a}}, {{a}}])", f"{item} in (D['p'], D['q'])"]
        self.add(depth, f"for {self.filled(self.choose(heads))}:", "in_turn")
        self.add(depth + 1, f"{item} {self.change(4, False)}", "in_turn")
        self.names["a"].append(item)
        self.block(depth + 1, room - 1, True)
        self.names["a"].remove(item)

    def write_late(self, depth: int, room: int, loop: bool) -> None:
        """A buffer first bound in a loop."""
        index, buffer = self.fresh("i"), self.fresh("late")
        self.add(depth, f"for {index} in range({self.choose(['2', '3', '4'])}):", "late")
        self.add(depth + 1, f"if {index} == 0:", "late")
        self.add(depth + 2, f"{buffer} = {self.region(4)}", "late")
        self.add(depth + 1, f"{buffer}[{index}] {self.change(1, True)}", "late")
        self.names["a"].append(buffer)
        self.indices.append(index)
        self.block(depth + 1, room - 1, True)
        self.indices.pop()
        self.names["a"].remove(buffer)
        self.add(depth, f"{self.name('s')} = {self.name('s')} * 0.5 + np.sum({buffer}) * 0.1", "late")
