"""Which commands this node has seen: a file for each, so that none is carried out twice."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
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
    begun_at: float
    """Seconds since the epoch by this machine's clock."""
    ended: Ended | None = None


class Ledger:
    def __init__(self, data: Path) -> None:
        self._folder = data / "commands"
        self._folder.mkdir(exist_ok=True, mode=0o700)

    def _path(self, command_id: str) -> Path:
        return self._folder / f"{quote(command_id, safe='')}.json"

    def has(self, command_id: str) -> bool:
        return self._path(command_id).exists()

    def begin(self, command_id: str, body: str) -> None:
        """To be called before anything is done for the command."""
        page = {"id": command_id, "state": "begun", "body": body, "begun_at": time.time()}
        write_aside(self._path(command_id), json.dumps(page))

    def end(self, command_id: str, ended: Ended) -> None:
        page = (read_json(self._path(command_id)) or {}) | {"state": "ended"} | ended.__dict__
        write_aside(self._path(command_id), json.dumps(page))

    def pages(self) -> list[Page]:
        """Oldest first."""
        found = [read_json(path) for path in self._folder.glob("*.json")]
        return sorted((_page(values) for values in found if values), key=lambda page: page.begun_at)


def _page(values: dict[str, object]) -> Page:
    ended = None
    if values["state"] == "ended":
        evidence = values["evidence"]
        assert isinstance(evidence, dict)
        ended = Ended(str(values["outcome"]), str(values["reason"]), evidence)
    return Page(str(values["id"]), str(values["body"]), float(str(values["begun_at"])), ended)
