"""Reads the command stream and has each command carried out once by its id, whatever is sent twice.

The order of notes is: begun in the ledger, CommandReceived, the act, ended in the ledger,
CommandEnded. A daemon killed between any two of them leaves enough for the next one to go on.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import cast

from redis import Redis

from ..wire import streams
from ..wire.codec import Unreadable, read_command
from ..wire.commands import AnyCommand, LeaveRunner, StartRunner, StopRunner
from ..wire.events import CommandEnded, CommandReceived
from .commands import Node, carry_out
from .journal import NodeJournal
from .ledger import LONGEST_ID, Ended, Ledger, Page
from .link import BLOCK_S
from .outcome import Failed, Refused
from .troubles import describe

log = logging.getLogger("regroup.agent")


class Inbox:
    def __init__(self, redis: Redis, node: Node, journal: NodeJournal, ledger: Ledger) -> None:
        self._redis = redis
        self._node = node
        self._journal = journal
        self._ledger = ledger
        self._last_id = "0"
        self._starts: dict[str, threading.Thread] = {}
        """The newest start command of each attempt."""

    # -- after a restart of the daemon --

    def resume(self) -> None:
        """Close what an earlier daemon left open. Starts are carried out before this returns."""
        for page in self._ledger.pages():
            if page.ended is not None:
                self._record_end(page.id, page.ended)
            else:
                self._resume(page)

    def _resume(self, page: Page) -> None:
        self._record_received(page.id)
        command = self._read(page.id, page.body)
        if isinstance(command, StartRunner):
            self._carry_out(command, time.time() - page.sent_at, is_resumed=True)
        elif command is not None:
            # It had arrived in time, and what ends something is better finished once it was begun.
            self._in_thread(command, 0.0, is_resumed=True)

    # -- reading --

    def step(self) -> None:
        try:
            for entry_id, fields in self._read_stream():
                self._receive(entry_id, fields.get(streams.FIELD_BODY, ""))
                self._last_id = entry_id
        except Exception:
            # Another Redis, or an emptied one, may number from anywhere: read all, the ledger knows the old.
            self._last_id = "0"
            raise

    def _read_stream(self) -> list[tuple[str, dict[str, str]]]:
        """New entries, or none after ``BLOCK_S``."""
        stream = streams.commands(self._node.name)
        answer = self._redis.xread({stream: self._last_id}, block=BLOCK_S * 1000)
        return cast("list[tuple[str, list[tuple[str, dict[str, str]]]]]", answer)[0][1] if answer else []

    def _receive(self, entry_id: str, body: str) -> None:
        command_id = _id_of(body)
        if command_id is None:
            log.error("command without an id is set aside entry=%s body=%.200s", entry_id, body)
            return
        if self._ledger.has(command_id):
            return
        age_s = self._age_s(entry_id)
        is_noted = self._ledger.begin(command_id, body, age_s)
        self._record_received(command_id)
        command = self._read(command_id, body)
        if isinstance(command, StartRunner) and not is_noted:
            self._end(command_id, Ended("refused", self._say_unwritable(), {}))
        elif command is not None:
            # To end something needs no note: whoever does it twice finds that it is gone.
            self._in_thread(command, age_s, is_resumed=False)

    def _say_unwritable(self) -> str:
        return (
            f"{self._node.name} can start nothing, as its data folder {self._node.config.data} cannot be "
            "written. Look at the disk that it is on."
        )

    def flush(self) -> bool:
        """Note what a full disk has not taken; whether nothing waits any more."""
        return self._ledger.flush()

    def _age_s(self, entry_id: str) -> float:
        """By the clock of Redis alone, which has numbered the entry too."""
        seconds, microseconds = self._redis.time()
        return float(seconds + microseconds / 1e6 - int(entry_id.partition("-")[0]) / 1000)

    def _read(self, command_id: str, body: str) -> AnyCommand | None:
        """The command, or None once it is refused as one that this version does not understand."""
        try:
            return read_command(body)
        except Unreadable as error:
            reason = f"The node agent on {self._node.name} does not understand this command: {error}"
            self._end(command_id, Ended("refused", reason, {}))
            return None

    # -- carrying out --

    def _in_thread(self, command: AnyCommand, age_s: float, is_resumed: bool) -> None:
        """Each on its own, as a kill must not wait for a stop with its grace.

        Only what starts, stops or leaves an attempt waits for an earlier start of the same attempt.
        """
        attempt = _attempt_of(command)
        before = None if attempt is None else self._starts.get(attempt)
        came_at = time.monotonic() - age_s

        def run() -> None:
            if before is not None:
                before.join()
            # The hub relies on it that nothing is started after the deadline, so its age by now counts.
            is_start = isinstance(command, StartRunner)
            self._carry_out(command, time.monotonic() - came_at if is_start else age_s, is_resumed)

        thread = threading.Thread(target=run, name=f"command-{command.id}", daemon=True)
        self._starts = {attempt: start for attempt, start in self._starts.items() if start.is_alive()}
        thread.start()
        if isinstance(command, StartRunner):
            self._starts[command.message.attempt] = thread

    def _carry_out(self, command: AnyCommand, age_s: float, is_resumed: bool) -> None:
        try:
            _require_in_time(command, age_s)
            done = carry_out(command, self._node, is_resumed)
            ended = Ended("done", done.reason, done.evidence)
        except Refused as refusal:
            ended = Ended("refused", str(refusal), {})
        except Failed as failure:
            ended = Ended("failed", str(failure), {})
        except OSError as error:
            ended = Ended("failed", describe(error), {})
        except Exception as error:  # the edge of a thread; the command must not stay open
            log.exception("command failed command=%s", command.id)
            ended = Ended("failed", f"The node agent on {self._node.name} met an error: {error!r}", {})
        self._end(command.id, ended)

    # -- noting --

    def _record_received(self, command_id: str) -> None:
        if command_id not in self._journal.memory.received:
            self._journal.record(CommandReceived, command=command_id)

    def _end(self, command_id: str, ended: Ended) -> None:
        self._ledger.end(command_id, ended)
        self._record_end(command_id, ended)

    def _record_end(self, command_id: str, ended: Ended) -> None:
        if command_id not in self._journal.memory.ended:
            self._journal.record(
                CommandEnded,
                command=command_id,
                outcome=ended.outcome,
                reason=ended.reason,
                evidence=ended.evidence,
            )


def _require_in_time(command: AnyCommand, age_s: float) -> None:
    if age_s > command.deadline_s:
        raise Refused(
            f"The command arrived {age_s:.0f} s after it was sent, later than its deadline of "
            f"{command.deadline_s:g} s; nothing was done."
        )


def _attempt_of(command: AnyCommand) -> str | None:
    """The attempt that it starts, stops or leaves, if it does."""
    if isinstance(command, StartRunner):
        return command.message.attempt
    return command.attempt if isinstance(command, StopRunner | LeaveRunner) else None


def _id_of(body: str) -> str | None:
    """The id, also of a command that cannot be read otherwise."""
    try:
        command_id = json.loads(body)["id"]
    except (ValueError, TypeError, KeyError):
        return None
    return command_id if isinstance(command_id, str) and 0 < len(command_id) <= LONGEST_ID else None
