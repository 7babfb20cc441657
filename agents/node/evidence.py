"""Keeps evidence of rounds that failed, off the way of every restart, and has the job's own commands run.

It reads the journals of runners as they grow. All that it has done is on the disk beside them, so that a
daemon that begins anew reads a journal from its beginning and does only what is left to be done.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import threading
import time
from pathlib import Path

from ..bundle import Bundle, write_aside
from ..journal import read_lines
from ..wire.events import EvidenceKept
from ..wire.sealing import CannotOpen
from ..wire.spec import StartMessage
from . import evidence_parts
from .devices import devices_of
from .gpu_counters import gpu_counters
from .hook_notes import Due, Hook
from .hooks import Hooks
from .journal import NodeJournal
from .round_ends import RoundEnd, Rounds
from .secrets import open_message

log = logging.getLogger("regroup.agent")

LOOK_S = 0.5
OLD_S = 3600.0
"""What was settled longer ago is left as it is: an earlier daemon has seen to it, or knew of no evidence."""
DONE = "evidence.done"
"""In the bundle: nothing is left to be done for it."""


def link_py_spy(bundle: Bundle, message: StartMessage) -> None:
    """For a runner whose job wants full evidence: it has an environment of its own, without py-spy."""
    beside = Path(sys.executable).with_name("py-spy")
    program = str(beside) if beside.exists() else shutil.which("py-spy")
    if message.spec.evidence == "full" and program and not bundle.py_spy.is_symlink():
        bundle.py_spy.symlink_to(program)


class Evidence:
    def __init__(self, data: Path, journal: NodeJournal) -> None:
        self._home, self._journal = data / Bundle.HOME, journal
        self._following: dict[str, _Follower] = {}
        self._over: set[str] = set()

    def step(self, stopping: threading.Event) -> None:
        for name in self._find_new():
            self._follow(name)
        for name, follower in list(self._following.items()):
            if not (self._home / name).exists() or follower.look():
                del self._following[name]
                self._over.add(name)
        stopping.wait(LOOK_S)

    def _find_new(self) -> list[str]:
        names = os.listdir(self._home) if self._home.is_dir() else []
        self._over &= set(names)
        return [name for name in names if name[0] != "." and name not in self._over | self._following.keys()]

    def _follow(self, name: str) -> None:
        bundle = Bundle(self._home / name)
        message = bundle.message()
        if message is None:
            return
        if (bundle.folder / DONE).exists() or _is_old(bundle):
            self._over.add(name)
        else:
            self._following[name] = _Follower(bundle, _opened(message, bundle), self._journal)


def _opened(message: StartMessage, bundle: Bundle) -> StartMessage:
    """With the values that are to be hidden in what is kept, and that the job's own commands have."""
    try:
        return open_message(message, bundle.data)
    except CannotOpen as error:
        log.error(
            "evidence and hooks go on without the job's secrets bundle=%s: %s", bundle.folder.name, error
        )
        return message


def _is_old(bundle: Bundle) -> bool:
    return bundle.is_settled() and time.time() - bundle.settled_at() > OLD_S


class _Follower:
    """Reads one runner's journal on."""

    def __init__(self, bundle: Bundle, message: StartMessage, journal: NodeJournal) -> None:
        self._bundle, self._message, self._journal = bundle, message, journal
        self._hooks = Hooks(bundle, message, journal)
        self._offset = 0
        self._rounds = Rounds(
            was_looked_at=lambda number: (bundle.evidence_folder(number) / "before.json").exists(),
            was_forced=lambda number: (bundle.evidence_folder(number) / "forced.json").exists(),
        )
        self._unkept: dict[int, RoundEnd] = {}
        """What a full disk, as it may be, has not taken; tried again and again."""
        self._last_failed: RoundEnd | None = None
        self._has_ended = False

    def look(self) -> bool:
        """Do what is due by now; whether nothing will be any more."""
        for end in list(self._unkept.values()):
            self._keep(end)
        self._read_on()
        if self._rounds.outcome and not self._has_ended:
            self._has_ended = True
            self._hooks.add(self._due("on_end", self._last_failed))
        if self._unkept or not (self._has_ended and self._hooks.is_idle() and self._bundle.is_settled()):
            return False
        write_aside(self._bundle.folder / DONE, "")
        return True

    def _read_on(self) -> None:
        path = self._bundle.journal
        while path.exists() and path.stat().st_size > self._offset:
            lines, offset = read_lines(path, self._offset)
            if offset == self._offset:
                return
            self._offset = offset
            for line in lines:
                self._try_to_take(line.text)

    def _try_to_take(self, text: str) -> None:
        """A record that makes no sense here is no reason to read no further."""
        try:
            self._take(text)
        except Exception:  # the edge of a loop over whatever is in a file
            log.exception("record cannot be followed bundle=%s text=%.200s", self._bundle.folder.name, text)

    def _take(self, text: str) -> None:
        for end in self._rounds.take(text):
            if not (end.has_failed or end.was_forced):
                evidence_parts.discard(self._bundle, end.round)
                continue
            self._keep(end)
            if end.has_failed:
                self._last_failed = end
                self._hooks.add(self._due("on_failure", end))

    def _keep(self, end: RoundEnd) -> None:
        """Put it together and tell the hub; what cannot be kept stops neither hooks nor the next round."""
        if self._message.spec.evidence == "off" or evidence_parts.was_dropped(self._bundle, end.round):
            return
        try:
            if not evidence_parts.was_told(self._bundle, end.round):
                self._put_together(end)
            self._unkept.pop(end.round, None)
        except OSError as error:
            if end.round not in self._unkept:
                log.error("evidence not kept yet round=%s error=%s", end.round, error)
            self._unkept[end.round] = end

    def _put_together(self, end: RoundEnd) -> None:
        counters = gpu_counters(devices_of(self._bundle).gpus)
        part = evidence_parts.put_together(self._bundle, self._message, end, counters)
        dropped = evidence_parts.make_room(self._bundle, end.round)
        self._journal.record(
            EvidenceKept,
            attempt=self._message.attempt,
            incarnation=self._message.incarnation,
            round=end.round,
            size_bytes=part.size_bytes,
            cause=end.cause,
            ranks=part.ranks,
            stacks=part.stacks,
            missing=part.missing,
            dropped=dropped,
        )
        evidence_parts.note_told(self._bundle, end.round)

    def _due(self, hook: Hook, end: RoundEnd | None) -> list[Due]:
        commands = getattr(self._message.spec, hook)
        is_end = hook == "on_end"
        number = self._rounds.round if is_end or end is None else end.round
        cause = self._rounds.reason if is_end else end.cause if end else ""
        outcome = self._rounds.outcome if is_end else ""
        rank = end.rank if end is not None and end.round == number else None
        return [
            Due(hook, number, index, command, cause, rank, outcome) for index, command in enumerate(commands)
        ]
