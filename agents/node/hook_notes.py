"""Which of a job's own commands have run on this node: a file for each, so that none runs twice.

A note is written before its command is started. One that is only begun after a restart of the daemon tells of
a command that was cut off.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ..bundle import Bundle, read_json, write_aside

Hook = Literal["on_failure", "on_end"]
Outcome = Literal["ended", "timed_out", "cut_off", "not_started"]


@dataclass(frozen=True)
class Due:
    """One command that is to run, and what it is told."""

    hook: Hook
    round: int
    index: int
    command: str
    cause: str = ""
    rank: int | None = None
    outcome: str = ""
    """Of ``on_end``: how the runner ended."""

    @property
    def name(self) -> str:
        return f"{self.hook}-{self.round}-{self.index}"


@dataclass(frozen=True)
class Result:
    outcome: Outcome
    said: str
    exit_code: int | None = None
    took_s: float = 0.0
    output: str = ""
    output_bytes: int = 0


class HookNotes:
    def __init__(self, bundle: Bundle) -> None:
        self._folder = bundle.folder / "hooks"

    def _path(self, due: Due) -> Path:
        return self._folder / f"{due.name}.json"

    def begin(self, due: Due) -> None:
        """To be called before the command is started.

        Raises:
            OSError: it cannot be noted, so that it must not be started.
        """
        self._folder.mkdir(exist_ok=True, mode=0o700)
        write_aside(self._path(due), json.dumps({"state": "begun"}))

    def end(self, due: Due, result: Result) -> None:
        write_aside(self._path(due), json.dumps({"state": "ended", "result": asdict(result)}))

    def close(self, due: Due) -> None:
        """Its end is in the node's journal."""
        write_aside(self._path(due), json.dumps({"state": "told"}))

    def state(self, due: Due) -> Literal["", "begun", "ended", "told"]:
        page = read_json(self._path(due)) or {}
        state: Literal["", "begun", "ended", "told"] = page.get("state", "")
        return state

    def result(self, due: Due) -> Result | None:
        page = read_json(self._path(due)) or {}
        return Result(**page["result"]) if page.get("state") == "ended" else None
