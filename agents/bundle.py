"""One folder per (attempt, node) that holds everything: whoever finds it can go on from it.

::

    <data>/bundles/<attempt>/
        start.json       the start message, written before the runner is started
        pid.json         who the runner is: pid, start time, boot id
        journal.jsonl    what happened, written by the runner
        acked.json       how far the hub's database has committed it
        stopping.json    a stop was asked for, by which command
        settled.json     written last: nothing of the runner is left
        runner.log       stdout and stderr of the runner
        lib/             the only folder of ours that workers see: regroup_report.py
        rounds/<round>/rank-<rank>/   stdout.log stderr.log error.json report.jsonl
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from .procs import ProcessRef
from .wire import streams
from .wire.plain import start_message_from_json, to_json
from .wire.spec import StartMessage


def write_aside(path: Path, text: str) -> None:
    """Replace a file so that a reader sees the old or the new content, never a part."""
    aside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    with aside.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """The file's object, or None when it is not there or not whole."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


class Bundle:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def attempt(self) -> str:
        return self.folder.name

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def runner_log(self) -> Path:
        return self.folder / "runner.log"

    @property
    def lib(self) -> Path:
        return self.folder / "lib"

    def rank_folder(self, round_number: int, rank: int) -> Path:
        return self.folder / "rounds" / str(round_number) / f"rank-{rank}"

    def log(self, round_number: int, rank: int, stream: str) -> Path:
        return self.rank_folder(round_number, rank) / f"{stream}.log"

    # -- start message --

    def create(self, message: StartMessage) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.lib.mkdir(exist_ok=True)
        write_aside(self.folder / "start.json", to_json(message))

    def message(self) -> StartMessage | None:
        try:
            return start_message_from_json((self.folder / "start.json").read_text())
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    @property
    def mark(self) -> str:
        message = self.message()
        return f"{self.attempt}/{message.node if message else '?'}"

    def source(self, incarnation: int = 1) -> str:
        """Name of the journal's source."""
        message = self.message()
        return streams.runner_source(self.attempt, message.node if message else "?", incarnation)

    # -- the runner's identity --

    def write_runner(self, ref: ProcessRef) -> None:
        write_aside(self.folder / "pid.json", json.dumps(ref.__dict__))

    def runner(self) -> ProcessRef | None:
        values = read_json(self.folder / "pid.json")
        return None if values is None else ProcessRef(values["pid"], values["start_time"], values["boot_id"])

    # -- how far things have come --

    def acked(self) -> int:
        return int((read_json(self.folder / "acked.json") or {}).get("seq", 0))

    def write_acked(self, seq: int) -> None:
        write_aside(self.folder / "acked.json", json.dumps({"seq": seq}))

    def write_stopping(self, **facts: Any) -> None:
        write_aside(self.folder / "stopping.json", json.dumps(facts))

    def stopping(self) -> dict[str, Any] | None:
        """What ``write_stopping`` noted, or None: nobody asked for a stop."""
        return read_json(self.folder / "stopping.json")

    def is_settled(self) -> bool:
        return (self.folder / "settled.json").exists()

    def settled_at(self) -> float:
        """Seconds since the epoch at which it was noted that nothing is left."""
        return (self.folder / "settled.json").stat().st_mtime

    def write_settled(self, **facts: Any) -> None:
        write_aside(self.folder / "settled.json", json.dumps(facts))

    def settled(self) -> dict[str, Any] | None:
        """What ``write_settled`` noted, or None: something of the runner may be left."""
        return read_json(self.folder / "settled.json")


def find_bundle(data: Path, attempt: str) -> Bundle | None:
    """The bundle of that attempt. A name that would lead out of the bundles' folder finds none."""
    folder = data / "bundles" / attempt
    if folder.parent != data / "bundles" or attempt in {"", ".", ".."}:
        return None
    return Bundle(folder) if (folder / "start.json").exists() else None


def list_bundles(data: Path) -> list[Bundle]:
    folder = data / "bundles"
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return [Bundle(path) for path in sorted(found) if (path / "start.json").exists()]
