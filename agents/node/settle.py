"""What is done once a bundle's process has gone: end what it left, complete its journal, note its end."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..bundle import Bundle, KeeperBundle
from ..journal import Journal, last_line, repair
from ..wire.events import JournalRepaired, KeeperFinished, RunnerSettled
from ..wire.runner_events import RunnerFinished
from .journal import NodeJournal
from .kin import end_kin

log = logging.getLogger("regroup.agent")

Outcome = Literal["failed", "stopped", "unknown"]

_LAST_WORDS_BYTES = 4096

LAST: dict[type[Bundle], type[RunnerFinished] | type[KeeperFinished]] = {
    Bundle: RunnerFinished,
    KeeperBundle: KeeperFinished,
}
"""The record with which the journal of each kind of bundle ends."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """All that is known of how the process of a bundle went."""

    node: str
    what: str = "runner"
    exit_code: int | None
    """As ``subprocess`` gives it, negative for a signal. None: it was not our child."""
    was_started: bool = True
    stop_asked: bool = False
    leave_asked: bool = False
    """This node alone was to leave; a stop is asked for then, too."""
    last_words: str = ""
    """The last line it wrote to its own log."""


def last_record(ending: Ending) -> tuple[Outcome, str]:
    """What to write for one that did not write its own end."""
    said = f" Its last words: {ending.last_words}" if ending.last_words else ""
    it = f"The {ending.what} on {ending.node}"
    if ending.leave_asked:
        return "stopped", f"{it} was asked to leave; it ended before it could say so itself."
    if ending.stop_asked:
        return "stopped", f"{it} was stopped; it ended before it could say so itself."
    if not ending.was_started:
        return "failed", f"{it} was never started.{said}"
    if ending.exit_code is None:
        return "unknown", (
            f"{it} ended, exit status not known: what had started it, the node agent or its warm process, "
            "had ended before."
        )
    if ending.exit_code < 0:
        return "failed", f"{it} was killed ({_signal_name(-ending.exit_code)})."
    return "failed", (f"{it} ended with exit status {ending.exit_code} before it could say why.{said}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def settle(
    bundle: Bundle,
    ending: Ending,
    journal: NodeJournal,
    end_all: Callable[[Bundle], tuple[list[int], list[int]]] = end_kin,
) -> list[int]:
    """Gives the pids that had to be ended. Safe to repeat from the start, if the daemon was killed in it.

    Returns only when no process of the bundle is left, as its slots are free then. Processes that
    do not end, in the kernel's uninterruptible sleep, are named after ten seconds, and waited for.
    """
    ended, left = end_all(bundle)
    last_seq = _complete_journal(bundle, ending, journal)
    if type(bundle) is Bundle and not journal.memory.has_settled(bundle):
        journal.record(
            RunnerSettled,
            attempt=bundle.attempt,
            incarnation=bundle.incarnation,
            exit_code=ending.exit_code,
            ended_pids=tuple(ended),
            unkillable_pids=tuple(left),
        )
    while left:
        log.warning("processes do not end after SIGKILL bundle=%s pids=%s", bundle.folder.name, left)
        _, left = end_all(bundle)
    bundle.write_settled(last_seq=last_seq, exit_code=ending.exit_code)
    return ended


def _complete_journal(bundle: Bundle, ending: Ending, journal: NodeJournal) -> int:
    """Cut a torn last line, add the missing last record. Gives the last sequence number."""
    mended = repair(bundle.journal)
    if mended.cut_bytes:
        journal.record(JournalRepaired, repaired=bundle.source(), cut_bytes=mended.cut_bytes)
    if _has_finished(bundle):
        return mended.last_seq
    outcome, reason = last_record(ending)
    left = {"has_left": True} if ending.leave_asked else {}
    writer = Journal(bundle.journal, bundle.source(), attempt=bundle.attempt, node=ending.node)
    try:
        last = writer.record(LAST[type(bundle)], outcome=outcome, reason=reason, inferred=True, **left)
        if not writer.flush():
            raise OSError(f"the last record of {bundle.folder.name} cannot be written: {writer.problem}")
        return last.seq
    finally:
        writer.close()


def _has_finished(bundle: Bundle) -> bool:
    return bool(_last(bundle).get("kind") == LAST[type(bundle)].kind)


def has_ended_for_good(bundle: Bundle) -> bool:
    """Whether its process came to its own end: not one that died, or left, and may come back."""
    record = _last(bundle)
    return _has_finished(bundle) and not (record["inferred"] or record.get("has_left"))


def _last(bundle: Bundle) -> dict[str, Any]:
    """The journal's last record; empty where it cannot be read."""
    line = last_line(bundle.journal)
    record = json.loads(line.text) if line is not None and line.seq is not None else {}
    return record if isinstance(record, dict) else {}


def last_words(log_file: Path) -> str:
    """The last line that says something, shortened; empty where there is none."""
    try:
        with log_file.open("rb") as file:
            file.seek(max(0, log_file.stat().st_size - _LAST_WORDS_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
