"""Core Python: the small language on which every pass works, and a function in it.

A Core function is ordinary Python in `gast` nodes, restricted so that a pass has few cases to consider. It can be
printed, read and executed at every stage.

**Expressions.** An *atom* is a `Name` or a `Constant`. A *path* is a dotted read of names that are not local
(`np.linalg.norm`, `math.pi`, `settings.rate`). A Core expression is an atom, a path, or one operation on atoms:

- `Call`: the function is an atom, a path, or an attribute of an atom (a method: `x.sum(axis=0)`); arguments
  are atoms, `Starred` atoms, keyword atoms and `**` atoms; an index as in a `Subscript`, where what is called writes
  into an item
- `BinOp`, `UnaryOp`, `Compare` with one operator
- `Subscript` of an atom; the index is an atom, a `Slice` of atoms, or a `Tuple` of these
- `Attribute` of an atom
- `Tuple`, `List`, `Set`, `Dict` displays of atoms (with `Starred` atoms, `**` atoms)
- `JoinedStr` of constants and `FormattedValue`s of atoms

**Statements.**

- `Assign` of an expression to one target: a `Name`, a flat `Tuple` of `Name`s, a `Subscript` or an `Attribute` of
  atoms; the value is an atom where the target is no `Name`, but for unpacking, which takes any expression
- `AugAssign`: the target as above (but no tuple), the value an atom: the in-place operation
- `If` on an atom, or on `not` of one; `For` over an atom, with a `Name` as target; `While` on an atom or on one
  operation on atoms; no `orelse` on loops
- `With` over atoms, with `Name` targets; `Try`; `Delete` of one target; `Assert` and `Raise` of atoms
- `Expr` of one expression (for its effect); `Pass` only where a block would be empty
- `FunctionDef`, a closure whose body is Core, and may begin with `Nonlocal` (`inline` takes closures out, `tries` every
  `Try`: `versions` refuses both)
- one exit from a loop: `if done: break`, only as the last statement of the loop's body, `done` an atom
- one `Return`, last, of an atom (or of a display of atoms)

A statement carries `origin` (see `Origin`), and may carry `comment`, a tuple of lines written above it, and `sweep`,
which is "reverse" for statements that differentiation made for the reverse sweep; a closure carries `variables`, the
names of the user's variables among its own.
Nodes are immutable by convention and shared between functions: a pass builds new nodes for what it changes.

**Names.** Ours hold a middle dot, which no user's name does: `x·2` is the second version of `x`,
`cond··3` the third temporary, which holds a condition. The last pass gives them plain names.

The modules: `function` (what a pass takes and gives), `nodes` (building, reading and replacing), `names`, and `grammar`
(which checks all this).
"""

from s2s.core.function import MISSING, NOTHING, Facts, Function, PairCall, Scope
from s2s.core.grammar import CoreError, check, is_atom, is_exit, is_path
from s2s.core.names import derived, is_temporary, stem, temporary, unique, variable, version
from s2s.core.nodes import (
    LEAVES,
    Origin,
    Substitution,
    all_writes,
    aside,
    assign,
    atom,
    attribute,
    binary,
    blocks,
    call,
    constant,
    is_aside,
    name,
    nested_blocks,
    nodes_in,
    noted,
    origin_of,
    own_names,
    parameters,
    path,
    place,
    positional,
    reads,
    rebound,
    rebuilt,
    subscript,
    substitute,
    writes,
)

__all__ = [
    "LEAVES", "MISSING", "NOTHING", "CoreError", "Facts", "Function", "Origin", "PairCall", "Scope", "Substitution",
    "all_writes", "aside", "assign", "atom", "attribute", "binary", "blocks", "call", "check", "constant", "derived",
    "is_aside", "is_atom", "is_exit", "is_path", "is_temporary", "name", "nested_blocks", "nodes_in", "noted",
    "origin_of", "own_names", "parameters", "path", "place", "positional", "reads", "rebound", "rebuilt", "stem",
    "subscript", "substitute", "temporary", "unique", "variable", "version", "writes",
]  # fmt: skip
