"""Let one worker stand still for a while."""

from __future__ import annotations

import threading
import time

from ... import procs
from ...procs import ProcessRef
from ...wire.commands import FreezeWorker
from ..outcome import Done, Evidence, Failed
from ..standstill import guarded, release, stop, wait_running
from .aim import require_running, say_who, worker_of
from .node import Node

POLL_S = 0.05


def carry_out(command: FreezeWorker, node: Node, is_resumed: bool) -> Done:
    """A fault does not outlive the node agent that does it: one begun before is only brought to its end."""
    who, worker = say_who(command), worker_of(command)
    if is_resumed:
        return let_go_after_restart(worker, who)
    require_running(command, node)
    with node.faults.running(command.id) as ending, guarded(worker, command.seconds, who):
        sent_at, begun = time.time(), time.monotonic()
        if not stop(worker):
            raise Failed(_say_not_stopped(worker, who))
        lasts = f"goes on by itself after {command.seconds:g} s"
        node.faults.say_begun(command.id, f"{who} on {node.name} stands still (SIGSTOP) and {lasts}.")
        why = _watch(worker, begun + command.seconds, ending)
        stood_s = time.monotonic() - begun
    evidence: Evidence = {"pid": command.pid, "sent_at": round(sent_at, 4), "stood_s": round(stood_s, 3)}
    return Done(f"{who} stood still for {stood_s:.1f} s {why}.", evidence | after(worker))


def _watch(worker: ProcessRef, until: float, ending: threading.Event) -> str:
    """Why it does not stand still any longer, as the end of a sentence."""
    while time.monotonic() < until:
        if ending.wait(min(POLL_S, max(0.0, until - time.monotonic()))):
            return "and goes on, as all faults were stopped"
        if not procs.is_alive(worker):
            return "until it ended"
        if procs.state_of(worker.pid) != "T":
            return "until something else let it go on"
    return "and goes on"


def _say_not_stopped(worker: ProcessRef, who: str) -> str:
    if not procs.is_alive(worker):
        return f"{who} ended before it stood still."
    return f"{who} was sent SIGSTOP and did not stand still; it was sent SIGCONT."


def let_go_after_restart(worker: ProcessRef, who: str) -> Done:
    """Also where the guard has done so already: a second SIGCONT does nothing."""
    release(worker)
    if not wait_running(worker):
        raise Failed(f"{who} was sent SIGCONT after the node agent's restart, and still stands still.")
    said = "The node agent ended meanwhile, and with it the fault"
    return Done(f"{said}: {who} does not stand still any more.", {"pid": worker.pid} | after(worker))


def after(worker: ProcessRef) -> Evidence:
    """How it is afterwards, by the kernel's letter."""
    is_there = procs.is_alive(worker)
    return {"state_after": (procs.state_of(worker.pid) if is_there else None) or "gone"}
