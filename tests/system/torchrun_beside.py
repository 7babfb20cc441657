"""Plain torchrun for several command lines at once: ``torchrun_beside.py FOLDER``, which has ``lines.json``.

torch is imported once, and each line runs in a process that is forked from there: the same code as
``torchrun``, without seconds of importing for each. The output of line 3 is in ``3.out`` and ``3.err``, and
all exit codes are in ``codes.json``. What Python says of torchrun's own exception is left out.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from torch.distributed.run import main


def start(folder: Path, number: int, words: list[str]) -> int:
    """In the child this does not return: it ends as torchrun does."""
    pid = os.fork()
    if pid:
        return pid
    for fd, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / f"{number}.{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), fd)
    sys.excepthook = lambda *_: None
    main(words)
    sys.exit(0)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    pids = [start(where, *each) for each in enumerate(json.loads((where / "lines.json").read_text()))]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    (where / "codes.json").write_text(json.dumps(codes))
