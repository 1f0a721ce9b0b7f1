"""Run the table with PyTorch: `python -m tests.autograd.semantics.validate [text in the name]`."""

import sys
import warnings

from tests.autograd.semantics import every
from tests.autograd.semantics.libraries import S2S, Torch
from tests.autograd.semantics.table import check


def main(only: str = "", library: str = "torch") -> int:
    """How many cases PyTorch does not agree with."""
    warnings.simplefilter("ignore")
    tool = Torch() if library == "torch" else S2S()
    wrong = 0
    for case in every.CASES:
        if only not in case.name:
            continue
        try:
            check(case, tool, case.torch if library == "torch" else case.expect)
        except Exception as error:
            wrong += 1
            print(f"{case.name}: {type(error).__name__}: {str(error)[:600]}")
    print(f"{len(every.CASES)} cases, {wrong} wrong with {library}")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
