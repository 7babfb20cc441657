"""Which commands this node has seen: a file for each, so that none is carried out twice."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..bundle import read_json, write_aside
from .outcome import Evidence

LONGEST_ID = 120


@dataclass(frozen=True)
class Ended:
    outcome: str
    reason: str
    evidence: Evidence


@dataclass(frozen=True)
class Page:
    """One command: begun, and with ``ended`` also closed."""

    id: str
    body: str
    sent_at: float
    """Seconds since the epoch, by this machine's clock, at which the hub sent it."""
    ended: Ended | None = None


class Ledger:
    def __init__(self, data: Path) -> None:
        self._folder = data / "commands"
        self._folder.mkdir(exist_ok=True, mode=0o700)
        self._waiting: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def _path(self, command_id: str) -> Path:
        return self._folder / f"{quote(command_id, safe='')}.json"

    def has(self, command_id: str) -> bool:
        return command_id in self._waiting or self._path(command_id).exists()

    def begin(self, command_id: str, body: str, age_s: float = 0.0) -> bool:
        """To be called before anything is done for the command. False: only memory holds it so far."""
        page = {"id": command_id, "state": "begun", "body": body, "sent_at": time.time() - age_s}
        return self._write(command_id, page)

    def end(self, command_id: str, ended: Ended) -> None:
        """Nobody needs the command itself any more, which may hold secrets of a job's environment."""
        with self._lock:
            page = self._waiting.get(command_id) or read_json(self._path(command_id)) or {}
            self._write(command_id, page | {"state": "ended", "body": ""} | ended.__dict__)

    def _write(self, command_id: str, page: dict[str, Any]) -> bool:
        try:
            write_aside(self._path(command_id), json.dumps(page))
        except OSError:
            self._waiting[command_id] = page
            return False
        self._waiting.pop(command_id, None)
        return True

    def flush(self) -> bool:
        """Write what a full disk has not taken; whether nothing waits any more."""
        with self._lock:
            for command_id, page in list(self._waiting.items()):
                self._write(command_id, page)
            return not self._waiting

    def pages(self) -> list[Page]:
        """Those that the journal may still have to speak of, oldest first."""
        found = [read_json(path) for path in self._folder.glob("*.json")]
        left = [_page(values) for values in found if values and values["state"] != "closed"]
        return sorted(left, key=lambda page: page.sent_at)

    def has_ended(self, command_id: str) -> bool:
        page = self._waiting.get(command_id) or read_json(self._path(command_id)) or {"state": "closed"}
        return bool(page["state"] != "begun")

    def close(self, command_id: str) -> None:
        """Its end is in the hub's database: only the id is kept, so that it is not carried out again."""
        with self._lock:
            page = read_json(self._path(command_id))
            if page is not None and page["state"] == "ended":
                closed = {"id": command_id, "state": "closed", "sent_at": page["sent_at"]}
                write_aside(self._path(command_id), json.dumps(closed))

    def forget_closed(self, older_than_s: float) -> None:
        """By then a command that comes again is refused for its age."""
        for path in self._folder.glob("*.json"):
            page = read_json(path)
            if page and page["state"] == "closed" and time.time() - page["sent_at"] > older_than_s:
                path.unlink(missing_ok=True)


def _page(values: dict[str, object]) -> Page:
    ended = None
    if values["state"] == "ended":
        evidence = values["evidence"]
        assert isinstance(evidence, dict)
        ended = Ended(str(values["outcome"]), str(values["reason"]), evidence)
    return Page(str(values["id"]), str(values["body"]), float(str(values["sent_at"])), ended)
