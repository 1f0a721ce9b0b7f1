"""Items of a container argument that are read by constant keys are read once, at the start, each into a name of its
own.

    x @ params["w"] + params["b"]       w = params["w"]
                                        b = params["b"]
                                        x @ w + b

Then the adjoint of the container is a display of the adjoints of these names (`facts.leaves`), and no shadow of it is
needed. This holds where the container is used in no other way; the kinds of the argument tell that each item is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s import core
from s2s import kinds as K
from s2s.core import Function
from s2s.transforms.copies import assignments
from s2s.transforms.structure import uses, with_blocks
from s2s.transforms.task import Task

Path = tuple[Any, ...]


def leaves(fn: Function, task: Task) -> Function:
    """`fn` with the items of its container arguments held in names."""
    for name in task.wrt:
        if isinstance(task.kinds[name], (K.Dict, K.Tuple, K.List)) and _plain(task.kinds[name]):
            fn = _Leaves(fn, name, task.kinds[name]).run()
    return fn


def _plain(kind: Any) -> bool:
    """Whether a container can be written as a display, parts included."""
    if isinstance(kind, K.Tuple) and kind.cls is not tuple:
        return False
    inner = K.children(kind)
    return inner is None or (isinstance(kind, (K.Dict, K.Tuple, K.List)) and all(map(_plain, inner)))


class _Leaves:
    def __init__(self, fn: Function, root: str, kind: Any) -> None:
        self.fn = fn
        self.root = root
        self.kind = kind
        self.parts: dict[str, Path] = {root: ()}  # names that hold the container or a container in it
        self.reads: dict[str, Path] = {}  # names that hold a leaf
        self.names: dict[Path, str] = {}

    def run(self) -> Function:
        if not all(self.survey(stmt) for stmt in self.fn.body):
            return self.fn
        times = assignments(self.fn)
        if any(times[name] > 1 for name in (*self.parts, *self.reads)):
            return self.fn  # a name that holds an item now, and something else later
        taken = self.fn.local_names()
        start: list[Any] = []
        for path in dict.fromkeys(self.reads.values()):
            name = core.unique(self.hint(path), lambda n: n in taken or self.fn.scope.lookup(n) is not core.MISSING)
            taken.add(name)
            self.names[path] = name
            start.extend(self.read(path, name))
        found = {**self.fn.facts.leaves, **{name: (self.root, path) for path, name in self.names.items()}}
        body = (*start, *self.block(self.fn.body))
        return replace(self.fn, body=body).with_facts(leaves=found)

    def hint(self, path: Path) -> str:
        """`w` of `params["w"]`, `layers_0_w` of `layers[0]["w"]`."""
        key = path[-1]
        if isinstance(key, str) and key.isidentifier() and not key.startswith("_"):
            return key
        return "_".join([core.stem(self.root), *(str(k) for k in path if isinstance(k, int) and k >= 0)])

    # --- whether the container is used in this way only ---

    def survey(self, stmt: Any) -> bool:
        """Take note of reads of items; False where a container is used in another way."""
        for _, block in core.blocks(stmt):
            if not all(map(self.survey, block)):
                return False
        if not set(uses(stmt)) & set(self.parts):
            return True
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
            return False
        path = self.path(stmt.value)
        if path is None:
            return False
        kind = self.at(path)
        (self.parts if K.children(kind) is not None else self.reads)[stmt.targets[0].id] = path
        return True

    def path(self, node: Any) -> Path | None:
        """The path of an item that a node reads by a constant key, from the root."""
        if isinstance(node, gast.Name):
            return self.parts.get(node.id)
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id in self.parts:
            if isinstance(node.slice, gast.Constant):
                path = (*self.parts[node.value.id], node.slice.value)
                return self.normal(path)
        return None

    def normal(self, path: Path) -> Path | None:
        """The path with positions counted from the start; None where there is no such item."""
        owner, key = self.at(path[:-1]), path[-1]
        if isinstance(owner, K.Dict):
            return path if key in dict(owner.items) else None
        count = len(owner.items)
        if type(key) is not int or not -count <= key < count:
            return None
        return (*path[:-1], key % count)

    def at(self, path: Path) -> Any:
        return at(self.kind, path)

    # --- rewriting ---

    def read(self, path: Path, name: str) -> Iterator[Any]:
        """`name = root[...][...]`, in steps."""
        held = self.root
        for depth, key in enumerate(path):
            last = depth == len(path) - 1
            target = name if last else core.temporary(f"{name}_of", len(self.names) * 8 + depth + 1000)
            yield core.assign(target, core.subscript(held, core.constant(key)), None)
            held = target

    def block(self, stmts: Sequence[Any]) -> list[Any]:
        new = []
        for stmt in stmts:
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                name = stmt.targets[0].id
                if name in self.parts and name != self.root:
                    continue
                if name in self.reads:
                    stmt = core.rebuilt(stmt, value=core.name(self.names[self.reads[name]]))
            new.append(with_blocks(stmt, lambda _, block: self.block(block)))
        return new or [core.place(gast.Pass(), None)]


def at(kind: Any, path: Path) -> Any:
    """The kind of an item, by its path."""
    for key in path:
        kind = dict(kind.items)[key] if isinstance(kind, K.Dict) else kind.items[key]
    return kind
