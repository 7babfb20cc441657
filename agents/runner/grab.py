"""What is noted of a round's workers before they are ended: their stacks, and how they stood in the kernel.

A restart waits for it, so that only what is there at once is taken here, within a limit that nothing
extends: it is done in a thread of its own, which is left alone when the time is up. Logs and error files lie
on the disk anyway; the node agent reads them later, off the way, from where this notes that they ended.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import stack_signal
from ..bundle import Bundle
from ..procs import ProcessRef, boot_id, state_of
from ..wire.masking import mask_env
from ..wire.plain import now
from ..wire.runner_events import WorkerRef
from . import counters
from .py_spy import dump_all

LIMIT_S = {"fast": 0.2, "full": 2.0}
"""What it may take in all. Beyond that the restart goes on, with whatever is there by then."""
ANSWER_S = 0.05
"""How long workers may take to write their stacks: those that can do so in a thousandth of a second."""
LOOK_S = 0.001
FILE = "before.json"
FORCED = "forced.json"
"""The same once more, of workers that SIGTERM did not end within the grace."""


@dataclass(frozen=True)
class Standing:
    """A worker that runs, and the folder of its output."""

    ref: WorkerRef
    folder: Path


class Grab:
    """``level``: see ``agents.wire.hooks.LEVELS``. ``marked``: variables that are secret by choice."""

    def __init__(self, bundle: Bundle, level: str, marked: tuple[str, ...] = ()) -> None:
        self._bundle, self._level, self._marked = bundle, level, marked
        self.seconds: dict[int, float] = {}
        """What it took before the workers of each round were ended."""

    def take_once(self, round_number: int, workers: list[Standing]) -> None:
        """The first time for a round, ``take``."""
        if round_number not in self.seconds and (took_s := self.take(round_number, workers)) is not None:
            self.seconds[round_number] = took_s

    def take(self, round_number: int, workers: list[Standing], name: str = FILE) -> float | None:
        """Note how these stand, in a file of that name. Gives the seconds it took; None: nothing is wanted.

        Never raises, and never takes longer than its limit.
        """
        limit_s = LIMIT_S.get(self._level)
        if limit_s is None:
            return None
        began = time.monotonic()
        thread = threading.Thread(
            target=self._take, args=(round_number, workers, name, began), name="evidence", daemon=True
        )
        thread.start()
        thread.join(limit_s)
        if thread.is_alive():
            print(f"evidence of round {round_number} is not complete after {limit_s} s", flush=True)
        return time.monotonic() - began

    def _take(self, round_number: int, workers: list[Standing], name: str, began: float) -> None:
        folder = self._bundle.evidence_folder(round_number)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            noted = self._note(workers, folder, began)
            _write(folder / name, {"round": round_number, **noted, "took_s": time.monotonic() - began})
        except Exception as error:  # noqa: BLE001 - whatever it is, the restart goes on without it
            print(f"evidence of round {round_number} cannot be taken: {error!r}", file=sys.stderr, flush=True)

    def _note(self, workers: list[Standing], folder: Path, began: float) -> dict[str, Any]:
        asked = {one.ref.rank: _Question(one) for one in workers}
        ranks = {one.ref.rank: _facts_of(one) for one in workers}
        at = now().isoformat(timespec="milliseconds")
        machine = counters.of_machine(self._bundle.folder)
        _wait(list(asked.values()), began + ANSWER_S)
        stacks = {rank: question.answer() for rank, question in asked.items()}
        if self._level == "full":
            stacks |= dump_all(self._bundle.py_spy, {one.ref.rank: one.ref.pid for one in workers}, folder)
        for one in workers:
            if not stacks[one.ref.rank]["how"]:
                stuck = counters.count_stuck(one.ref.pid)
                ranks[one.ref.rank]["process"]["threads in uninterruptible sleep"] = stuck
        return {
            "at": at,
            "machine": machine,
            "environment": mask_env(os.environ, self._marked),
            "ranks": {rank: {**facts, "stack": stacks[rank]} for rank, facts in ranks.items()},
        }


class _Question:
    """Asks a worker for its stacks at once, and looks whether it has answered."""

    def __init__(self, worker: Standing) -> None:
        self._path, self._pid = worker.folder / stack_signal.FILE, worker.ref.pid
        self._behind = stack_signal.size_of(self._path)
        self._why_not = _ask(worker.ref)

    def is_open(self) -> bool:
        """The signal is blocked while its handler writes, and pending before."""
        if self._why_not:
            return False
        return stack_signal.size_of(self._path) == self._behind or _is_busy(self._pid)

    def answer(self) -> dict[str, Any]:
        size = stack_signal.size_of(self._path)
        if size > self._behind:
            return {"how": "faulthandler", "from": self._behind, "to": size}
        return {"how": "", "why": self._why_not or f"it did not answer within {ANSWER_S * 1000:.0f} ms"}


def _ask(ref: WorkerRef) -> str:
    """Have it write its stacks. Why it cannot; empty where it was asked to."""
    try:
        if stack_signal.ask(ProcessRef(ref.pid, ref.start_time, boot_id())):
            return ""
    except OSError as error:
        return f"it could not be asked: {error.strerror}"
    state = state_of(ref.pid)
    if state in ("T", "t"):
        return f"it stood still ({state}), and a process that does runs no handler"
    if state in (None, "Z", "X"):
        return "it had ended"
    return "it does not listen for that: it was executed and has not imported regroup_report"


def _is_busy(pid: int) -> bool:
    """Whether the signal waits at that process, or its first thread is in the handler."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    masks = (line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:", "SigBlk:")))
    return any(int(mask, 16) >> (stack_signal.NUMBER - 1) & 1 for mask in masks)


def _wait(asked: list[_Question], deadline: float) -> None:
    while any(question.is_open() for question in asked) and time.monotonic() < deadline:
        time.sleep(LOOK_S)


def _facts_of(worker: Standing) -> dict[str, Any]:
    logs = {name: stack_signal.size_of(worker.folder / f"{name}.log") for name in ("stdout", "stderr")}
    ref = worker.ref
    return {
        "pid": ref.pid,
        "local_rank": ref.local_rank,
        "process": counters.of_process(ref.pid),
        "log_bytes": logs,
    }


def _write(path: Path, values: Mapping[str, Any]) -> None:
    """Whole or not at all, and without waiting for the disk, which a restart has no time for."""
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(values, ensure_ascii=False))
    aside.replace(path)
