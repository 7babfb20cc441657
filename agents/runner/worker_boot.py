"""The first moments of a worker: tie its life to the runner's, then become the training command.

``PYTHON -I -S worker_boot.py RUNNER_PID COMMAND ARG…``; the pid stays the same.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_PTRACER, PR_SET_PTRACER_ANY = 0x59616D61, ctypes.c_ulong(-1)


def main(runner_pid: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # Where the kernel lets only a parent trace (Yama), py-spy may still look at a worker that hangs.
    libc.prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)
    # The runner may have died before the line above: then no signal will ever come.
    if os.getppid() != runner_pid:
        os.kill(os.getpid(), signal.SIGKILL)
    # Python ignores these for itself, and what is executed would go on to.
    for signum in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signum, signal.SIG_DFL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
