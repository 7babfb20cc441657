#!/usr/bin/env python3
"""The first process of a node's container: keeps a node agent running, and ends the container in order.

Its arguments are the node agent's. A node agent that ends unasked is started again, for ever; what it
had started comes under this process meanwhile, runs on, and is adopted by the next one.
SIGTERM and SIGINT end the node agent first, so that nothing new is started, and then all the rest.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

AGENT = "regroup-agent"
REFUSED = 2
"""The node agent's exit status for settings that it cannot use."""
SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0
PROVEN_S = 30.0
"""A node agent that ran that long is started again after the first pause."""
AGENT_SHARE = 0.3
"""What the node agent may take of the grace before the rest is asked to end as well."""
KEEPER = b"/keeper/boot.py\0"
"""In the command line of every store keeper."""
PR_SET_CHILD_SUBREAPER = 36


def say(sentence: str) -> None:
    sys.stderr.write(f"agent-init: {sentence}\n")


def refuse(sentence: str, status: int = REFUSED) -> NoReturn:
    say(sentence)
    sys.exit(status)


def read_grace_s() -> float:
    text = os.environ.get("REGROUP_STOP_GRACE_S", "8")
    if not text.isdecimal():
        refuse(f"REGROUP_STOP_GRACE_S is {text!r}. Write how many seconds a stop may take, for example 30.")
    return float(text)


def children() -> list[int]:
    """What runs directly under this process; the orphans of a child that ends come here too."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if int(parent) == os.getpid() and state not in "ZX":
            found.append(int(stat.parent.name))
    return found


def keeps_store(pid: int) -> bool:
    try:
        return KEEPER in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


class Init:
    def __init__(self, arguments: list[str], grace_s: float) -> None:
        self._arguments, self._grace_s = arguments, grace_s
        self._agent: int | None = None
        self._status = 0

    def run(self) -> int:
        """Until a signal asks for the end, or the settings are refused. Gives the agent's exit status."""
        pause_s = FIRST_PAUSE_S
        while True:
            began = time.monotonic()
            self._start()
            asked = self._watch()
            if not asked and self._status == REFUSED and not children():
                say("the node agent refused its settings, as it says above; not started again.")
                return self._status
            if not asked:
                pause_s = FIRST_PAUSE_S if time.monotonic() - began > PROVEN_S else pause_s
                say(f"the node agent ended with status {self._status}; started again in {pause_s:g} s.")
                asked = self._pause(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            if asked:
                self._end_all(asked)
                return self._status

    def _start(self) -> None:
        command = [AGENT, *self._arguments]
        try:
            self._agent = os.posix_spawnp(AGENT, command, os.environ, setsigmask=(), setsigdef=SIGNALS)
        except OSError as error:
            refuse(f"{AGENT} cannot be started ({error.strerror}). Is it in this image?", status=127)

    def _watch(self) -> int:
        """Wait until the agent has ended, which gives 0, or for the signal that asks for the end."""
        while self._agent:
            if asked := self._wait(3600.0):
                return asked
        return 0

    def _pause(self, seconds: float) -> int:
        deadline = time.monotonic() + seconds
        while (left_s := deadline - time.monotonic()) > 0:
            if asked := self._wait(left_s):
                return asked
        return 0

    def _wait(self, timeout_s: float) -> int:
        """The signal that asks for the end; 0 after a child has ended, or when the time is up."""
        came = signal.sigtimedwait(SIGNALS, timeout_s)
        self._reap()
        return 0 if came is None or came.si_signo == signal.SIGCHLD else came.si_signo

    def _reap(self) -> None:
        """Take leave of every child that has ended, so that none stays as a zombie."""
        while True:
            try:
                pid, waited = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._agent:
                code = os.waitstatus_to_exitcode(waited)
                self._agent, self._status = None, code if code >= 0 else 128 - code

    def _end_all(self, asked: int) -> None:
        """The agent, then each of the others once with SIGTERM, and when the grace is over with SIGKILL.

        Runners leave in order only while their store is there, so its keepers come last.
        """
        begun = time.monotonic()
        if self._agent:
            os.kill(self._agent, asked)
        while self._agent and time.monotonic() < begun + AGENT_SHARE * self._grace_s:
            self._wait(0.1)
        told: set[int] = set()
        while left := children():
            is_over = time.monotonic() >= begun + self._grace_s
            due = [pid for pid in left if not keeps_store(pid)] or left
            for pid in left if is_over else set(due) - told:
                os.kill(pid, signal.SIGKILL if is_over else signal.SIGTERM)
            told.update(due)
            self._wait(0.1)


def main(arguments: list[str]) -> int:
    if {"-h", "--help"} & set(arguments):
        os.execvp(AGENT, [AGENT, *arguments])
    grace_s = read_grace_s()
    # Blocked from here on and waited for: the first process of a container has no default actions.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # where it is not the first process
    return Init(arguments, grace_s).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
