"""Runs a job's own commands after a round that failed and at the end: each once, and in nobody's way.

They run one after the other in a thread for each bundle, while the job goes on. The order of notes is:
begun, the command, ended, HookEnded in the node's journal, told. A daemon killed between any two of them
leaves enough for the next one to say what became of it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from .. import procs
from ..bundle import Bundle
from ..wire.events import HookEnded
from ..wire.masking import hide
from ..wire.spec import StartMessage
from . import evidence_parts
from .hook_notes import Due, HookNotes, Result
from .hook_process import run
from .journal import NodeJournal
from .spawn import job_environment

log = logging.getLogger("regroup.agent")

TOLD_BYTES = 4096
"""How much of the output's end the hub is told."""


class Hooks:
    """Of one bundle."""

    def __init__(self, bundle: Bundle, message: StartMessage, journal: NodeJournal) -> None:
        self._bundle, self._message, self._journal = bundle, message, journal
        self._notes = HookNotes(bundle)
        self._due: list[Due] = []
        self._lock = threading.Lock()
        self._is_running = False

    def add(self, due: list[Due]) -> None:
        """Run these, and say what became of those that an earlier daemon had begun."""
        with self._lock:
            self._due += [one for one in due if self._notes.state(one) != "told"]
            if self._is_running or not self._due:
                return
            self._is_running = True
        name = f"hooks-{self._bundle.folder.name}"
        threading.Thread(target=self._run_all, name=name, daemon=True).start()

    def is_idle(self) -> bool:
        with self._lock:
            return not self._is_running

    def _run_all(self) -> None:
        while due := self._next():
            try:
                self._carry_out(due)
            except Exception:  # the edge of a thread: the next command is no worse for it
                log.exception("hook failed bundle=%s hook=%s", self._bundle.folder.name, due.name)

    def _next(self) -> Due | None:
        with self._lock:
            due = self._due.pop(0) if self._due else None
            self._is_running = due is not None
            return due

    def _carry_out(self, due: Due) -> None:
        try:
            result = self._result_of(due)
        except OSError as error:
            said = f"was not started, as that could not be noted: {error.strerror} ({error.filename})"
            self._tell(due, Result("not_started", said))
            return
        self._tell(due, result)
        self._notes.close(due)

    def _result_of(self, due: Due) -> Result:
        match self._notes.state(due):
            case "begun":
                procs.end_marked(self._mark(due))
                result = Result("cut_off", "was cut off: its node agent ended while it ran")
            case "ended":
                return self._notes.result(due) or Result("cut_off", "was cut off: its note cannot be read")
            case _:
                result = self._run(due)
        self._notes.end(due, result)
        return result

    def _run(self, due: Due) -> Result:
        self._notes.begin(due)
        log.info("hook begins bundle=%s hook=%s", self._bundle.folder.name, due.name)
        folder = Path(self._message.spec.workdir or self._bundle.folder)
        result = run(due.command, self._environment(due), folder, self._message.spec.hook_timeout_s)
        hidden = hide(result.output, evidence_parts.secrets_of(self._message))
        self._keep(due, hidden)
        return Result(
            result.outcome,
            result.said,
            result.exit_code,
            result.took_s,
            hidden[-TOLD_BYTES:],
            result.output_bytes,
        )

    def _mark(self, due: Due) -> str:
        """Not the bundle's own: what ends a runner's processes leaves its commands alone."""
        return f"{self._bundle.mark}/{due.name}"

    def _environment(self, due: Due) -> Mapping[str, str]:
        evidence = self._bundle.evidence_folder(due.round)
        return job_environment(os.environ, self._message) | {
            procs.MARK: self._mark(due),
            "REGROUP_HOOK": due.hook,
            "REGROUP_EVIDENCE": str(evidence) if evidence.exists() else "",
            "REGROUP_JOB": str(self._message.job),
            "REGROUP_ATTEMPT": str(self._message.number),
            "REGROUP_ATTEMPT_ID": self._message.attempt,
            "REGROUP_ROUND": str(due.round),
            "REGROUP_RANK": "" if due.rank is None else str(due.rank),
            "REGROUP_NODE": self._message.node,
            "REGROUP_CAUSE": due.cause,
            "REGROUP_OUTCOME": due.outcome,
        }

    def _keep(self, due: Due, output: str) -> None:
        """Among the evidence, where there is any of that round."""
        if not evidence_parts.zip_of(self._bundle, due.round).exists():
            return
        path = self._bundle.evidence_folder(due.round) / "hooks" / f"{due.hook}-{due.index + 1}.txt"
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_text(output)
            evidence_parts.pack(self._bundle, due.round)
        except OSError as error:
            log.error("output of a hook is not kept path=%s error=%s", path, error)

    def _tell(self, due: Due, result: Result) -> None:
        self._journal.record(
            HookEnded,
            attempt=self._message.attempt,
            incarnation=self._message.incarnation,
            round=due.round,
            hook=due.hook,
            index=due.index,
            outcome=result.outcome,
            exit_code=result.exit_code,
            took_s=result.took_s,
            said=result.said,
            output=result.output,
            output_bytes=result.output_bytes,
        )
