"""Signal one worker: that very process, or nothing at all."""

from __future__ import annotations

import signal
import time

from ... import procs
from ...procs import ProcessRef
from ...wire.commands import KillWorker
from ..outcome import Done, Evidence, Failed, Refused
from .aim import require_worker, say_who, worker_of
from .node import Node

ENDING = frozenset({"SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGABRT"})
"""Signals after which the process is expected to go."""

GONE_S = 10.0


def carry_out(command: KillWorker, node: Node, is_resumed: bool) -> Done:
    signum = _signal_number(command.signal)
    who, worker = say_who(command), worker_of(command)
    if not procs.is_alive(worker):
        return _already_gone(command, who, is_resumed)
    require_worker(command, node)
    sent_at, begun = time.time(), time.monotonic()
    if not _send(worker, signum, who):
        return _already_gone(command, who, is_resumed)
    if command.signal not in ENDING:
        return Done(f"{who} was sent {command.signal}.", {"pid": command.pid})
    if procs.wait_gone([worker], GONE_S, poll_s=0.005):
        raise Failed(f"{who} was sent {command.signal} on {node.name} and still runs {GONE_S:.0f} s later.")
    gone_after_s = round(time.monotonic() - begun, 3)
    evidence: Evidence = {"pid": command.pid, "gone_after_s": gone_after_s, "sent_at": round(sent_at, 4)}
    return Done(f"{who} is gone after {command.signal}.", evidence)


def _signal_number(name: str) -> signal.Signals:
    try:
        return signal.Signals[name]
    except KeyError:
        raise Refused(f"There is no signal {name!r}. Write a name such as SIGKILL.") from None


def _already_gone(command: KillWorker, who: str, is_resumed: bool) -> Done:
    """Gone is what an earlier daemon may have brought about, and a plain refusal otherwise."""
    if is_resumed and command.signal in ENDING:
        return Done(f"{who} was found gone after the node agent's restart.", {"pid": command.pid})
    raise Refused(f"{who} has already ended; nothing was signalled.")


def _send(worker: ProcessRef, signum: signal.Signals, who: str) -> bool:
    send = procs.ask_to_end if signum.name in ENDING else procs.send_signal
    try:
        return send(worker, signum)
    except PermissionError as error:
        raise Failed(f"{who} could not be signalled: the node agent's user is not allowed to.") from error
