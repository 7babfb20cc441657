"""A thread that follows what the workers of the current round report and write."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from datetime import datetime, timezone
from pathlib import Path

from ..bundle import Bundle
from ..journal import Journal
from ..wire.runner_events import (
    Activity,
    CheckpointBegun,
    CheckpointSaved,
    Progress,
    RankProgress,
    Reached,
    Resumed,
    TorchMetrics,
    WorkersReached,
)
from .log_times import LogTimes
from .log_watcher import watcher_of
from .milestones import Milestones
from .progress import ActivityGate, Coalescer, Report, ResumedFrom, Saved, Saving, Told, read_report
from .put_metrics import PutMetrics

LOOK_S = 0.1


class _ReportFile:
    """One rank's report file, read on from where the last look ended."""

    def __init__(self, path: Path, rank: int) -> None:
        self._path = path
        self._rank = rank
        self._offset = 0

    def read(self) -> list[Told]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        found = (read_report(line, self._rank) for line in whole.splitlines())
        return [told for told in found if told is not None]


class Tail:
    """Records progress, checkpoints and activity. Safe to call from the main thread."""

    def __init__(self, bundle: Bundle, journal: Journal) -> None:
        self._bundle = bundle
        self._journal = journal
        self._lock = threading.Lock()
        self._round = 0
        self._files: dict[int, _ReportFile] = {}
        self._progress = Coalescer()
        self._activity = ActivityGate()
        self._milestones = Milestones()
        self._log_times: LogTimes | None = None
        self._log_watcher = watcher_of(bundle)
        self.put_metrics = PutMetrics(time.monotonic())
        self._has_saved = False
        self.newest_checkpoint: Saved | None = None
        """Of all rounds so far."""
        threading.Thread(target=self._run, name="tail", daemon=True).start()

    def watch(self, round_number: int, ranks: list[int]) -> None:
        """From now on the reports are those of this round."""
        with self._lock:
            self._note_log_times(flush=True)
            self._log_times = LogTimes(self._bundle, round_number, ranks)
            self._round = round_number
            folders = {rank: self._bundle.rank_folder(round_number, rank) for rank in ranks}
            self._files = {rank: _ReportFile(path / "report.jsonl", rank) for rank, path in folders.items()}
            if self._log_watcher is not None:
                self._log_watcher.watch(folders)
            self._progress, self._activity = Coalescer(), ActivityGate()
            self._milestones = Milestones(self._milestones.pace)
            self._has_saved = False

    def flush(self) -> None:
        """Record all that has been reported so far."""
        with self._lock:
            if self._log_watcher is not None:
                self._log_watcher.catch_up()
            self._look(flush=True)
            self._note_log_times(flush=True)

    def has_progressed(self) -> bool:
        """Whether a rank of this node has reported a step or a checkpoint in this round, up to now."""
        with self._lock:
            self._look(flush=True)
            return self._progress.has_reported or self._has_saved

    def _run(self) -> None:
        said = ""
        while True:
            time.sleep(LOOK_S)
            try:
                with self._lock:
                    self._note_log_times()
                self._journal.flush()
                with self._lock:
                    if self._log_watcher is not None:
                        self._log_watcher.keep()
                    self._look()
                said = ""
            except Exception as error:  # noqa: BLE001 - recording must never end the job
                said = _say_once(repr(error), said)

    def _note_log_times(self, flush: bool = False) -> None:
        if self._log_times is not None:
            self._log_times.look(flush)

    def _look(self, flush: bool = False) -> None:
        reached: list[Reached] = []
        for rank, file in self._files.items():
            for told in file.read():
                reached += self._milestones.take(rank, told)
                self._take(rank, told.report, told.is_from_log)
        if reached:
            self._journal.record(WorkersReached, round=self._round, reached=tuple(reached))
        now = time.monotonic()
        self._record_progress(now, flush)
        if put := self.put_metrics.take(now, flush):
            self._journal.record(TorchMetrics, metrics=put)
        if self._files and not self._progress.has_reported:
            self._look_at_logs(now)

    def _record_progress(self, now: float, flush: bool) -> None:
        due = self._progress.take(now, flush)
        if due:
            self._journal.record(Progress, round=self._round, ranks=due)

    def _take(self, rank: int, report: Report, is_from_log: bool = False) -> None:
        if isinstance(report, RankProgress):
            self._progress.add(report, is_from_log)
        elif isinstance(report, Saving):
            # Its last step first: a step that follows tells that the save is over.
            self._record_progress(time.monotonic(), flush=True)
            self._journal.record(CheckpointBegun, round=self._round, rank=rank, step=report.step)
        elif isinstance(report, Saved):
            self._has_saved, self.newest_checkpoint = True, report
            self._journal.record(
                CheckpointSaved, round=self._round, rank=rank, step=report.step, path=report.path
            )
        elif isinstance(report, ResumedFrom):
            self._journal.record(Resumed, round=self._round, rank=rank, step=report.step, path=report.path)

    def _look_at_logs(self, now: float) -> None:
        last = max((self._last_output(rank) for rank in self._files), default=0.0)
        if last and self._activity.take(last, now):
            at = datetime.fromtimestamp(last, timezone.utc)
            self._journal.record(Activity, round=self._round, last_output_at=at)

    def _last_output(self, rank: int) -> float:
        """When the rank last wrote, seconds since the epoch; 0 when it has written nothing."""
        last = 0.0
        for stream in ("stdout", "stderr"):
            try:
                facts = self._bundle.log(self._round, rank, stream).stat()
            except FileNotFoundError:
                continue
            if facts.st_size:
                last = max(last, facts.st_mtime)
        return last


def _say_once(problem: str, said: str) -> str:
    """The traceback of a problem, unless it is the one that was said last; gives what is said by now."""
    if problem != said:
        traceback.print_exc(file=sys.stderr)
    return problem
