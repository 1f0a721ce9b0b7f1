"""Random programs of dicts whose keys are known, and of lists that are copied, sorted, cut and spread out.

They are programs of generator.py with two dicts `D` and `E` of numbers `p` and `q` and an array `v`, which may be one
dict, a dict `N` of a dict `in`, whose other name may be `r`, two lists `L` and `M` of numbers, which may be one list,
and a deque `W`.
"""

from __future__ import annotations

from tests.programs.generator import Writer

# What each statement of the kind may be.
CONTAINERS = {
    "dict item": [
        "D['p'] = {S}", "E['q'] = {S}", "D['{n}'] *= {s}", "E['{n}'] += {S}", "D['v'] = {a} * 0.5", "E['v'] += {a}",
        "D['v'] *= {s}", "{s} = D['{n}'] * 0.5 + math.sin(E['{n}'])", "{a} = D['v']", "D['p'], D['q'] = D['q'], {s}",
        "E['v'][1] = {S}", "{a} = E['v'] * {s}",
    ],
    "dict update": ["D.update(p={S})", "E.update({{'q': {s}, 'v': {a}}})", "D.update(E)", "D |= {{'p': {s}}}"],
    "dict setdefault": ["{s} = D.setdefault('p', {S})", "D.setdefault('v', {a})"],
    "dict taken": ["{s} = D.pop('p')\nD['p'] = {S}", "del E['q']\nE['q'] = {s}", "{s} = E.pop('t', {S})"],
    "dict copy": [
        "E = D.copy()", "D = dict(E)", "E = {{**D, 'p': {S}}}", "D = D | {{'q': {s}}}", "E = dict(D, q={S}, p={s})",
    ],
    "dict alias": ["E = D", "D = E", "D, E = E, D"],
    "dict comprehension": [
        "D = {{k: x * 0.5 for k, x in D.items()}}", "E = {{k: D[k] - 0.1 * E[k] for k in E}}",
        "{s} = sum({{k: np.sum(x) for k, x in D.items() if k != 'q'}}.values()) * 0.3",
    ],
    "dict loop": [
        "for k in D:\n    D[k] = D[k] * 0.5", "for k, x in E.items():\n    {s} = {s} * 0.5 + np.sum(x)",
        "for x in D.values():\n    {s} = {s} * 0.5 + np.mean(x)", "for k in ('p', 'q'):\n    D[k] *= {s}",
    ],
    "dict asked": [
        "if 'p' in D:\n    {s} = {S}", "{s} = D.get('t', {s}) * 0.5 + E.get('p')", "{s} = len(D) * 0.1 + {s}",
    ],
    "nested": [
        "N['in']['p'] = {S}", "r['p'] *= {s}", "r = N['in']", "N['in'] = {{'p': {s}, 'q': {S}}}", "N['in'] = dict(r)",
        "r = {{'p': {S}, 'q': {s}}}", "{s} = N['in']['p'] * r['q'] * 0.5", "N = {{**N, 'k': {s}}}", "N['in'] = D",
        "N['in']['q'] += r['p']", "N['k'] = {S}", "for part in (D, r):\n    part['p'] = part['p'] * {s}",
    ],
    "mapping matched": [
        "match r:\n    case {{'p': x, 'q': y}}:\n        {s} = math.sin(x) * y\n    case _:\n        {s} = 0.5",
    ],
    "argument": [
        "D = {{**D, 'p': knobs['rate'], 'q': {s}}}", "D = {{**D, **{{'v': knobs['bias']}}}}",
        "{s} = sum(np.sum(x) for x in {{k: x * 0.5 for k, x in knobs.items()}}.values())",
    ],
    "list copy": ["M = L.copy()", "L = list(M)", "M = L[:]", "L = M", "M = L"],
    "list sorted": ["L.sort()", "M.sort()", "M.reverse()"],
    "list cut": ["if len(L) > 2:\n    del L[1:2]", "if len(M) > 2:\n    del M[-1]", "if len(M) > 3:\n    del M[:2]"],
    "list part": [
        "L[1:] = [{S}, {s}]", "M[:1] = [{s}]", "L[-1:] = M", "M[0:0] = ({s}, {S})", "L[0] = {S}", "M[-1] *= {s}",
    ],
    "list spread": ["L = [{S}, *L[:2]]", "M = [*M[-2:], *L[:1], {s}]", "{s}, *M = [{S}, *L[:2]]", "{s}, *_ = L"],
    "deque": [
        "W.append({S})", "W.appendleft({s})", "W[0] = {S}", "{s} = sum(W) * 0.3", "W.extend(L)", "W[-1] *= {s}",
        "if len(W) > 1:\n    {s} = W.popleft()", "if len(W) > 1:\n    {s} = W.pop() * {s}",
        "for x in W:\n    {s} = {s} * 0.5 + x",
    ],
    "list read": ["{s} = sum(L) * 0.3 + M[-1]", "{s} = math.sin(L[0] * M[0])", "{s} = L[-1] * len(M) * 0.2"],
}  # fmt: skip
RESULTS = [
    "D['p'] * E['q']", "np.sum(D['v'] * E['v'])", "N['in']['p'] * r['q']", "sum(L) * 0.5", "M[-1] * L[0]", "a * 0.5",
    "b + c", "np.sum(u * v)", "W[0] * W[-1]",
]  # fmt: skip


class ContainerWriter(Writer):
    """Writes programs of dicts and lists."""

    length = 3, 7

    def write_start(self) -> None:
        super().write_start()
        self.lines += ["    D = {'p': a, 'q': b, 'v': u * 2.0}", "    E = {'p': b, 'q': c, 'v': v}"]
        self.lines += [
            "    N = {'in': {'p': c, 'q': a}, 'k': 1.0}",
            "    r = N['in']",
            "    L = [a, b, c]",
            "    M = [b * a]",
            "    W = deque([c])",
        ]

    def result(self) -> str:
        return " + ".join(self.shuffled(RESULTS)[: self.random.randint(3, 5)])

    def options(self, room: int, loop: bool) -> list[str]:
        options = ["scalar", "array", *["container"] * 12]
        if room > 0:
            options += ["if", "if", "for", "for", "while"]
        if loop:
            options += ["break", "continue", "return"]
        return options

    def place(self, key: str) -> str:
        if key == "S":
            return self.scalar()
        return self.choose(["p", "q"]) if key == "n" else super().place(key)

    def statement(self, depth: int, room: int, loop: bool) -> None:
        options = self.options(room, loop)
        getattr(self, "write_" + self.choose(options))(depth, room, loop)

    def write_container(self, depth: int, room: int, loop: bool) -> None:
        kind = self.choose(list(CONTAINERS))
        text = self.choose(CONTAINERS[kind]).replace("{{", "\0")[::-1].replace("}}", "\1")[::-1]
        for line in self.filled(text).replace("\0", "{").replace("\1", "}").split("\n"):
            self.add(depth, line, kind)
