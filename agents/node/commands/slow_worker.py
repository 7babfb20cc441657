"""Let one worker run for a share of the time only."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from ... import procs
from ...bundle import Bundle
from ...procs import ProcessRef
from ...wire.commands import SlowWorker
from ..outcome import Done, Evidence, Failed
from ..standstill import guarded, release, stop
from .aim import require_running, say_who, worker_of
from .freeze_worker import after, let_go_after_restart
from .node import Node

TURN_S = 0.2
"""One stop and one run together: much shorter than a step that anybody looks at."""


@dataclass
class _Slowing:
    worker: ProcessRef
    bundle: Bundle
    share: float
    turns: int = 0
    stood_s: float = 0.0

    def turn(self, ending: threading.Event) -> bool:
        """Stop it and let it go on once; whether there may be another turn."""
        begun = time.monotonic()
        if not stop(self.worker):
            return False
        ending.wait(TURN_S * (1 - self.share))
        release(self.worker)
        self.turns, self.stood_s = self.turns + 1, self.stood_s + time.monotonic() - begun
        return not ending.wait(TURN_S * self.share) and self._may_go_on()

    def _may_go_on(self) -> bool:
        # A worker that is asked to end needs all of its time for that.
        return procs.is_alive(self.worker) and self.bundle.stopping() is None


def carry_out(command: SlowWorker, node: Node, is_resumed: bool) -> Done:
    who, worker = say_who(command), worker_of(command)
    if is_resumed:
        return let_go_after_restart(worker, who)
    slowing = _Slowing(worker, require_running(command, node), command.share)
    with node.faults.running(command.id) as ending, guarded(worker, command.seconds, who):
        begun = time.monotonic()
        goes_on = slowing.turn(ending)
        if slowing.turns:
            share = f"{command.share:.0%} of the time"
            says = f"{who} on {node.name} is slowed: it runs {share} for {command.seconds:g} s."
            node.faults.say_begun(command.id, says)
        while goes_on and time.monotonic() < begun + command.seconds:
            goes_on = slowing.turn(ending)
        took_s = time.monotonic() - begun
    if not slowing.turns:
        raise Failed(f"{who} could not be stopped even once, or ended before.")
    evidence: Evidence = {"pid": command.pid, "turns": slowing.turns, "stood_s": round(slowing.stood_s, 3)}
    ran = 1 - slowing.stood_s / took_s
    return Done(f"{who} ran {ran:.0%} of {took_s:.1f} s and is let go.", evidence | after(worker))
