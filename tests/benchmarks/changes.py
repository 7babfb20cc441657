"""Nodes are lost, added and let go, on every side alike, and each is watched training with the others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.waiting import wait_until

from .cases import Case
from .kills import HANG_S, REST_S, Column
from .progress import say
from .sides import Account, Job


@dataclass(kw_only=True)
class Changes(Column):
    """One side's changes of one kind. A hang is one after which the others do not train for a minute."""

    case: Case

    @property
    def size_after(self) -> int:
        return self.case.nodes_after * self.shape.nproc_per_node

    def turn(self, number: int) -> None:
        """Change the nodes once, wait until all ranks of the new world have met, and change them back."""
        job = self._come_up()
        if job is None:
            return
        began_at = job.change(self.case.kind)
        self.kills += 1
        back = self._wait_back(job, began_at)
        self._note(back, began_at)
        self._account(job)
        if back is None:
            self.hangs += 1
        if not job.undo(self.case.kind) or back is None or not self._wait_whole(job):
            self.close()

    def _come_up(self) -> Job | None:
        """None: it did not get all its nodes. Of torchrun that is a hang; of ours it must not happen."""
        try:
            job, world = self._ready()
            # A rank that has not begun to train does not notice that another one is lost.
            wait_until(lambda: job.marks.is_warm(world), HANG_S, "all ranks to be past their first steps")
            return job
        except AssertionError as problem:
            if self.most_hangs is None:
                raise
            say(str(problem))
            self.kills, self.hangs = self.kills + 1, self.hangs + 1
            self.close()
            return None

    def _account(self, job: Job) -> None:
        spent = job.restarts_spent()
        self.accounts += [] if spent is None else [Account({}, spent)]

    def _wait_whole(self, job: Job) -> bool:
        """Until it has its shape again; what the way back costs is nobody's here."""
        world = self._wait_living(job)
        if world is not None:
            job.restarts_spent()
            return True
        say(f"{self._title}: it did not get its nodes back, and was ended")
        return False


def run_one_by_one(columns: Sequence[Changes]) -> None:
    """All turns of one side, then all of the next, whose jobs come up meanwhile: some wait 30 s for that."""
    try:
        for column in reversed(columns):
            column.launch()
        for column in columns:
            for number in range(column.turns):
                if not column.is_through(number):
                    column.turn(number)
                    time.sleep(REST_S)
            column.close()
    finally:
        for column in columns:
            column.close()
