"""A process that runs checks with planted bugs, each bug in a process of its own, which is forked before anything is
compiled: nothing that one has compiled serves another.

Reads lines, `{"bug": name or null, "check": text}` in JSON, and answers each by a line `{"found": text or null}`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from tests.planted.bugs import BUGS
from tests.planted.checks import run
from tests.planted.plant import plant

LIMIT = 60  # seconds


def answer(bug: str | None, check: str) -> dict[str, Any]:
    """What a check finds, with a bug."""
    if bug is not None:
        plant(next(b for b in BUGS if b.name == bug))
    return {"found": run(check)}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(LIMIT)
            try:
                said = answer(request["bug"], request["check"])
            except BaseException as error:
                said = {"failed": f"{type(error).__name__}: {error}"}
            os.write(write, json.dumps(said).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        print(text or json.dumps({"failed": "it took too long, or crashed"}), flush=True)


if __name__ == "__main__":
    main()
