"""One folder for each runner that holds everything: whoever finds it can go on from it.

A node may have several runners in one attempt, one after the other; each is an incarnation with a bundle
of its own, the second in ``<attempt>~2``.

::

    <data>/bundles/<attempt>/    or <attempt>~<incarnation>/
        start.json       the start message, written before the runner is started
        pid.json         who the runner is: pid, start time, boot id
        journal.jsonl    what happened, written by the runner
        acked.json       how far the hub's database has committed it
        stopping.json    a stop was asked for, by which command; with "leave" this node alone is to leave
        devices.json     the GPUs that the runner was given
        settled.json     written last: nothing of the runner is left
        runner.log       stdout and stderr of the runner
        code/            the job's uploaded code, unpacked; the workdir unless one is given
        lib/             the only folder of ours that workers see: regroup_report.py
        rounds/<round>/rank-<rank>/   stdout.log stderr.log error.json report.jsonl stacks.txt
                                      stdout.times stderr.times: see ``logs/times.py`` matched
        evidence/<round>/   what is kept of a round that failed: see ``node/evidence_parts.py``
        hooks/           which of the job's commands have run: see ``node/hook_notes.py``
        py-spy           a link to the node agent's, where the job wants full evidence

    <data>/keepers/<attempt>/
        the same for the store keeper, on the node that keeps the attempt's store: start.json, pid.json,
        journal.jsonl, acked.json, stopping.json, settled.json and keeper.log
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .procs import ProcessRef
from .wire import streams
from .wire.plain import start_message_from_json, to_json
from .wire.spec import StartMessage

_MARKS_INCARNATION = "~"
"""What no name of an attempt has."""


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
    """Of a runner. That of a store keeper differs in names alone."""

    HOME = "bundles"
    """The folder of all such bundles, in the node agent's data folder."""
    PROCESS = "runner"
    LOG = "runner.log"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def attempt(self) -> str:
        return _split(self.folder.name)[0]

    @property
    def incarnation(self) -> int:
        """1 for the first runner that the node has in the attempt."""
        return _split(self.folder.name)[1]

    @property
    def data(self) -> Path:
        """The node agent's data folder."""
        return self.folder.parents[1]

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def own_log(self) -> Path:
        """What the process of the bundle itself says."""
        return self.folder / self.LOG

    @property
    def lib(self) -> Path:
        return self.folder / "lib"

    @property
    def code(self) -> Path:
        return self.folder / "code"

    def round_folder(self, round_number: int) -> Path:
        return self.folder / "rounds" / str(round_number)

    def rank_folder(self, round_number: int, rank: int) -> Path:
        return self.round_folder(round_number) / f"rank-{rank}"

    def evidence_folder(self, round_number: int) -> Path:
        return self.folder / "evidence" / str(round_number)

    @property
    def py_spy(self) -> Path:
        return self.folder / "py-spy"

    def log(self, round_number: int, rank: int, stream: str) -> Path:
        return self.rank_folder(round_number, rank) / f"{stream}.log"

    # -- start message --

    def create(self, message: StartMessage) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_aside(self.folder / "start.json", to_json(message))

    def message(self) -> StartMessage | None:
        try:
            return start_message_from_json((self.folder / "start.json").read_text())
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    @property
    def node(self) -> str:
        message = self.message()
        return message.node if message else "?"

    @property
    def mark(self) -> str:
        return f"{self.folder.name}/{self.node}"

    def source(self) -> str:
        """Name of the journal's source."""
        return streams.runner_source(self.attempt, self.node, self.incarnation)

    # -- the identity of its process --

    def write_process(self, ref: ProcessRef) -> None:
        write_aside(self.folder / "pid.json", json.dumps(ref.__dict__))

    def process(self) -> ProcessRef | None:
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

    def is_leaving(self) -> bool:
        """Whether this node alone is to leave, while the others go on."""
        return bool((self.stopping() or {}).get("leave"))

    # -- its devices --

    def write_devices(self, **facts: Any) -> None:
        write_aside(self.folder / "devices.json", json.dumps(facts))

    def devices(self) -> dict[str, Any] | None:
        """What ``write_devices`` noted, or None: nothing was chosen for it."""
        return read_json(self.folder / "devices.json")

    # -- its end --

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


class KeeperBundle(Bundle):
    HOME = "keepers"
    PROCESS = "store keeper"
    LOG = "keeper.log"

    @property
    def mark(self) -> str:
        return f"{super().mark}/store"

    def source(self) -> str:
        return streams.keeper_source(self.attempt, self.node)


KINDS: tuple[type[Bundle], ...] = (Bundle, KeeperBundle)

B = TypeVar("B", bound=Bundle)


def _split(name: str) -> tuple[str, int]:
    attempt, _, number = name.partition(_MARKS_INCARNATION)
    return attempt, int(number) if number.isdecimal() else 1


def bundle_of(kind: type[B], data: Path, attempt: str, incarnation: int = 1) -> B:
    """Where that bundle is, or is to be."""
    name = attempt if incarnation == 1 else f"{attempt}{_MARKS_INCARNATION}{incarnation}"
    return kind(data / kind.HOME / name)


def find_bundles(data: Path, attempt: str) -> list[Bundle]:
    """The runners' bundles of that attempt, the newest first."""
    return _find(Bundle, data, attempt)


def find_bundle(data: Path, attempt: str) -> Bundle | None:
    """The newest of them. A name that would lead out of the bundles' folder finds none."""
    return next(iter(find_bundles(data, attempt)), None)


def find_keeper(data: Path, attempt: str) -> KeeperBundle | None:
    """The bundle of the attempt's store keeper."""
    return next(iter(_find(KeeperBundle, data, attempt)), None)


def _find(kind: type[B], data: Path, attempt: str) -> list[B]:
    found = _list(data / kind.HOME, kind, lambda name: _split(name)[0] == attempt)
    return sorted(found, key=lambda bundle: bundle.incarnation, reverse=True)


def list_bundles(data: Path, *kinds: type[Bundle]) -> list[Bundle]:
    """The bundles of these kinds; of all without any."""
    return [bundle for kind in kinds or KINDS for bundle in _list(data / kind.HOME, kind)]


def _list(home: Path, kind: type[B], is_wanted: Callable[[str], bool] = lambda name: True) -> list[B]:
    """By name. Names that begin with a dot are of bundles that are being removed."""
    names = sorted(os.listdir(home)) if home.is_dir() else []
    found = [home / name for name in names if not name.startswith(".") and is_wanted(name)]
    return [kind(path) for path in found if (path / "start.json").exists()]
