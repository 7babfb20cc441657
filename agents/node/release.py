"""Lets a worker go on that a node agent has stopped by hand, once that agent lets it, dies or is too late.

A script of its own, started with a pipe as its input: ``release.py PID START_TIME SECONDS``. It says that it
watches, and then waits for the end of the pipe, which comes with the death of the node agent at the latest.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys


def main(pid: int, start_time: int, seconds: float) -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        handle = os.pidfd_open(pid)
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 1
    # From here on the handle stands for that process and for none that gets its pid later.
    if int(fields[19]) != start_time:
        return 1
    os.write(1, b"w")
    select.select([0], [], [], seconds)
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGCONT)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
