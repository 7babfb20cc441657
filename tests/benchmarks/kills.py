"""Workers are killed in turns, on every side alike, and each side is watched coming back."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from .cases import Shape
from .marks import World
from .phases import Kill
from .progress import say
from .sides import Account, Job, Side

HANG_S = 60.0
"""A kill that has not recovered by then is a hang. Nobody is killed meanwhile, as it costs cores."""
UP_S = 150.0
"""How long the first world may take: plain torchrun waits 30 s for its last call."""
IN_VAIN = 3
"""So many hangs, and nothing else, show that a side does not bear such kills; each costs a minute."""
REST_S = 1.0
"""How long everybody is left alone between a recovery and the next kill, and a job after its own start."""


@dataclass
class Column:
    """One side's kills in one shape."""

    side: Side
    shape: Shape
    folder: Path
    turns: int
    most: int
    """Kills at most: more than ``turns`` only while none has recovered, as a median needs one."""
    most_hangs: int | None = None
    """After so many it is killed no more, once one has recovered; after ``IN_VAIN`` in any case. None: it is
    killed on all the same."""
    until: float = math.inf
    """By the monotonic clock: from then on there is no turn but the first."""
    kills: int = 0
    hangs: int = 0
    recovered_s: list[float] = field(default_factory=list)
    accounts: list[Account] = field(default_factory=list)
    """What the side itself says of each kill; empty for those that say nothing."""
    _job: Job | None = None
    _names: count[int] = field(default_factory=count)

    def turn(self, number: int) -> None:
        """Kill one worker, and wait until all ranks are past a first collective again."""
        job, world = self._ready()
        rank = number % self.shape.world_size
        pid = world.pids[rank]
        job.before_kill()
        killed_at, clock = time.monotonic(), time.time()
        os.kill(pid, signal.SIGKILL)
        self.kills += 1
        back = self._wait_back(job, killed_at)
        self._note(back, killed_at)
        recovered_at = clock + back.up_at - killed_at if back else None
        account = job.account(Kill(pid, clock, recovered_at, back.members if back else frozenset()))
        self.accounts += [account] if account else []
        if back is None:
            self.hangs += 1
            self.close()

    def _ready(self) -> tuple[Job, World]:
        """A job whose workers are all alive and have been left alone for a while."""
        while True:
            job = self.launch()
            world = self._wait_living(job)
            if world is not None:
                time.sleep(max(0.0, world.up_at + REST_S - time.monotonic()))
            if world is not None and world.is_alive():
                return job, world
            self._did_not_stay(job)

    def launch(self) -> Job:
        """The job; launched when there is none."""
        self._job = self._job or self.side.launch(self.shape, self._folder(), ())
        return self._job

    def _did_not_stay(self, job: Job) -> None:
        """It was back after the last kill, and is gone since: that kill hung all the same."""
        assert self.recovered_s, f"{self._title} did not stay up, and nobody had killed it; {job.says()}"
        self.recovered_s.pop()
        self.hangs += 1
        say(f"{self._title}: it was back, but did not stay, and was ended")
        self.close()

    def _folder(self) -> Path:
        return self.folder / self.side.name.replace(" ", "-") / str(next(self._names))

    @property
    def _title(self) -> str:
        return f"{self.shape.name} {self.side.name}"

    def _wait_living(self, job: Job) -> World | None:
        """None: it was up before, and is not any more.

        Raises:
            AssertionError: it never came up.
        """
        deadline = time.monotonic() + (HANG_S if job.marks.worlds() else UP_S)
        while time.monotonic() < deadline and not job.has_ended():
            world = job.marks.living_world()
            # With a short last call some nodes begin before the others have come.
            if world is not None and len(world.pids) == self.shape.world_size:
                return world
            time.sleep(0.05)
        assert job.marks.worlds(), f"{self._title} did not come up; {job.says()}"
        return None

    def _wait_back(self, job: Job, killed_at: float) -> World | None:
        """None: it hangs, or has ended."""
        while time.monotonic() < killed_at + HANG_S:
            if self._find_back(job, killed_at) or job.has_ended():
                break
            time.sleep(0.02)
        return self._find_back(job, killed_at)

    def _find_back(self, job: Job, killed_at: float) -> World | None:
        """The next world after the kill; None: there is none, or it came when it counts as hung."""
        world = job.marks.world_since(killed_at, self.size_after)
        return world if world and world.up_at < killed_at + HANG_S else None

    def _note(self, back: World | None, killed_at: float) -> None:
        how = "did not come back, and its job was ended"
        if back is not None:
            self.recovered_s.append(back.up_at - killed_at)
            how = f"was back after {self.recovered_s[-1]:.3f} s"
        say(f"{self._title}: kill {self.kills} {how}")

    @property
    def size_after(self) -> int:
        """Ranks of the world that is waited for."""
        return self.shape.world_size

    def is_through(self, number: int) -> bool:
        """Whether its turn of that number, from 0, is left out."""
        return number >= self.turns or self._has_hung_enough() or (number > 0 and self._is_late())

    def _is_late(self) -> bool:
        return time.monotonic() > self.until

    def _has_hung_enough(self) -> bool:
        if self.most_hangs is None:
            return False
        return self.hangs >= (self.most_hangs if self.recovered_s else IN_VAIN)

    def finish(self) -> None:
        """Kill on while none has recovered, and end everything."""
        while not self.recovered_s and self.kills < self.most and not self._is_given_up():
            self.turn(self.kills)
        self.close()

    def _is_given_up(self) -> bool:
        return self._has_hung_enough() or self._is_late()

    def close(self) -> None:
        """End what runs."""
        if self._job is not None:
            self._job.end()
        self._job = None


def run_turns(columns: Sequence[Column]) -> None:
    """Everybody's first kill, then everybody's second …, so that a noisy minute hits all of them.

    Each time another one begins: who follows on one that is busy for a while after its recovery pays for it.
    """
    try:
        for number in range(max(column.turns for column in columns)):
            first = number % len(columns)
            for column in (*columns[first:], *columns[:first]):
                if not column.is_through(number):
                    column.turn(number)
                    time.sleep(REST_S)
        for column in columns:
            column.finish()
    finally:
        for column in columns:
            column.close()
