"""A node's part of what is kept of a round that failed: put together once, read in slices.

::

    <bundle>/evidence/<round>/
        before.json forced.json py-spy-<rank>.txt    what the runner noted: see ``runner/grab.py``
        part.json             what the report is made of: see ``Part``
        rank-<rank>/          stdout.txt stderr.txt stack.txt error.json
        journal.jsonl runner.log environment.json start.json
        hooks/                what the job's own commands wrote
    <bundle>/evidence/<round>.zip       the same, written last: with it the part is complete
    <bundle>/evidence/<round>.told      the hub has been told
    <bundle>/evidence/<round>.dropped   it has made room for newer ones

Secrets of the environment are hidden in all of it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import stack_signal
from ..bundle import Bundle, find_bundles
from ..wire.commands import EvidenceSlice, EvidenceSliceAnswer
from ..wire.masking import hide, mask, mask_env, secrets_in
from ..wire.plain import now, to_json
from ..wire.spec import StartMessage
from .file_ends import last_lines, line_begin, what_follows
from .round_ends import RoundEnd

LINES = 200
AFTER_LINES = 50
"""Of what a worker wrote while it was being ended."""
PART_BYTES = 20 << 20
"""What a part may hold; what does not fit is named in it."""
PARTS = 20
"""How many rounds of a runner are kept, the newest."""
CUT = "\n--- from here on it was being ended ---\n"
STREAMS = ("stdout", "stderr")


@dataclass(frozen=True)
class Part:
    """What became of putting it together."""

    size_bytes: int
    ranks: tuple[int, ...]
    stacks: tuple[int, ...]
    missing: tuple[str, ...]


class _Writer:
    """Writes texts of the part, secrets hidden, until it is full."""

    def __init__(self, folder: Path, secrets: tuple[str, ...]) -> None:
        self._folder, self._secrets, self._left = folder, secrets, PART_BYTES
        self.missing: list[str] = []

    def write(self, name: str, text: str) -> None:
        data = hide(text, self._secrets).encode()
        if not data:
            return
        if len(data) > self._left:
            self.missing.append(f"{name} of {len(data) >> 10} KiB: the part is full.")
            return
        self._left -= len(data)
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def secrets_of(message: StartMessage) -> tuple[str, ...]:
    """``message`` is an opened one: see ``secrets.py``."""
    spec = message.spec
    return secrets_in(os.environ, spec.env, spec.rdzv_conf, marked=spec.secret_env)


def zip_of(bundle: Bundle, round_number: int) -> Path:
    return bundle.evidence_folder(round_number).with_suffix(".zip")


def was_told(bundle: Bundle, round_number: int) -> bool:
    return _mark(bundle, round_number, "told").exists()


def note_told(bundle: Bundle, round_number: int) -> None:
    _mark(bundle, round_number, "told").touch()


def was_dropped(bundle: Bundle, round_number: int) -> bool:
    return _mark(bundle, round_number, "dropped").exists()


def _mark(bundle: Bundle, round_number: int, what: str) -> Path:
    return bundle.folder / "evidence" / f"{round_number}.{what}"


def put_together(
    bundle: Bundle, message: StartMessage, end: RoundEnd, gpus: list[dict[str, Any]] | str
) -> Part:
    """Safe to repeat: the same again, from what the runner left. ``gpus``: why there are none, as a text."""
    folder = bundle.evidence_folder(end.round)
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(folder, secrets_of(message))
    before, forced = (_noted(folder / name) for name in ("before.json", "forced.json"))
    if not before:
        writer.missing.append("How workers stood before they were ended: the runner has left no note of it.")
    ranks = {rank: _write_rank(bundle, end, rank, before, forced, writer) for rank in _ranks(bundle, end)}
    writer.write("journal.jsonl", "".join(f"{line}\n" for line in end.records))
    writer.write("runner.log", last_lines(bundle.own_log, LINES))
    environment = before.get("environment") or mask_env(
        {**os.environ, **message.spec.env}, message.spec.secret_env
    )
    writer.write("environment.json", _text(environment))
    writer.write("start.json", _text(mask(json.loads(to_json(message)))))
    part = {
        "node": message.node,
        "attempt": message.attempt,
        "incarnation": message.incarnation,
        "round": end.round,
        "cause": end.cause,
        "has_failed": end.has_failed,
        "rank": end.rank,
        "kept_at": now().isoformat(timespec="milliseconds"),
        "noted_at": before.get("at"),
        "took_s": before.get("took_s"),
        "machine": before.get("machine", {}),
        "gpus": gpus,
        "ranks": ranks,
        "missing": writer.missing,
    }
    writer.write("part.json", _text(part))
    stacks = tuple(rank for rank, told in ranks.items() if told["stack"])
    return Part(pack(bundle, end.round), tuple(ranks), stacks, tuple(writer.missing))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _noted(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        value = json.loads(path.read_text())
        return value if isinstance(value, dict) else {}
    return {}


def _ranks(bundle: Bundle, end: RoundEnd) -> list[int]:
    names = (path.name.removeprefix("rank-") for path in bundle.round_folder(end.round).glob("rank-*"))
    return sorted(int(name) for name in names if name.isdecimal())


def _write_rank(
    bundle: Bundle, end: RoundEnd, rank: int, before: dict[str, Any], forced: dict[str, Any], writer: _Writer
) -> dict[str, Any]:
    """Its files, and what the report says of it."""
    source, name = bundle.rank_folder(end.round, rank), f"rank-{rank}"
    stood = before.get("ranks", {}).get(str(rank), {})
    for stream in STREAMS:
        writer.write(
            f"{name}/{stream}.txt", _log(source / f"{stream}.log", stood.get("log_bytes", {}).get(stream))
        )
    for error in ("error.json", "error.unreadable"):
        writer.write(f"{name}/{error}", last_lines(source / error, LINES))
    stack, why = _stack(bundle, end.round, source, stood)
    late, _ = _stack(bundle, end.round, source, forced.get("ranks", {}).get(str(rank), {}))
    writer.write(f"{name}/stack.txt", stack)
    writer.write(f"{name}/stack-after-grace.txt", late)
    if before and not stack:
        writer.missing.append(f"The stack of rank {rank}: {why}.")
    return {
        "role": end.roles.get(rank, ""),
        "process": stood.get("process", {}),
        "pid": stood.get("pid"),
        "stack": bool(stack or late),
        "why_no_stack": "" if stack else why,
        "how": stood.get("stack", {}).get("how", ""),
    }


def _log(path: Path, size_before: int | None) -> str:
    """The last lines before it was ended, and what it wrote in its end. No line is cut in two."""
    before = None if size_before is None else line_begin(path, size_before)
    text = last_lines(path, LINES, before)
    more = "" if before is None else what_follows(path, before, AFTER_LINES)
    return f"{text}{CUT if text and more else ''}{more}"


def _stack(bundle: Bundle, round_number: int, source: Path, stood: dict[str, Any]) -> tuple[str, str]:
    """The text, or why there is none."""
    stack = stood.get("stack", {})
    match stack.get("how"):
        case "py-spy":
            return last_lines(bundle.evidence_folder(round_number) / stack["file"], 5000), "it is empty"
        case "faulthandler":
            with contextlib.suppress(OSError), (source / stack_signal.FILE).open("rb") as file:
                file.seek(int(stack["from"]))
                return file.read(int(stack["to"]) - int(stack["from"])).decode("utf-8", "replace"), ""
            return "", "its file cannot be read"
    return "", str(stack.get("why") or "it had ended before")


# -- as one file --


def pack(bundle: Bundle, round_number: int) -> int:
    """Write the zip anew from the folder; gives its size. Readers see the old or the new one."""
    folder, path = bundle.evidence_folder(round_number), zip_of(bundle, round_number)
    aside = path.with_suffix(".new")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in sorted(folder.rglob("*")):
            if each.is_file() and each.suffix != ".new":
                packed.write(each, each.relative_to(folder).as_posix())
    aside.replace(path)
    return path.stat().st_size


def make_room(bundle: Bundle, newest: int) -> tuple[int, ...]:
    """Drop the oldest rounds beyond those that are kept, the newest not among them; gives which."""
    rounds = sorted(int(path.stem) for path in (bundle.folder / "evidence").glob("*.zip"))
    dropped = tuple(number for number in rounds[:-PARTS] if number != newest)
    for number in dropped:
        _mark(bundle, number, "dropped").touch()
        discard(bundle, number)
    return dropped


def discard(bundle: Bundle, round_number: int) -> None:
    """Nothing is kept of that round."""
    shutil.rmtree(bundle.evidence_folder(round_number), ignore_errors=True)
    zip_of(bundle, round_number).unlink(missing_ok=True)


def read_part(request: EvidenceSlice, data: Path, node: str) -> EvidenceSliceAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    bundles = find_bundles(data, request.attempt)
    if not bundles:
        return EvidenceSliceAnswer(problem=f"{node} knows no attempt {request.attempt!r}.")
    bundle = next((one for one in bundles if zip_of(one, request.round).exists()), None)
    if bundle is None:
        return EvidenceSliceAnswer(problem=_why_missing(bundles, request.round, node))
    try:
        with zip_of(bundle, request.round).open("rb") as file:
            status = os.fstat(file.fileno())
            file.seek(max(0, request.offset))
            read = file.read(max(1, min(request.limit, 1 << 20)))
    except OSError as error:
        return EvidenceSliceAnswer(problem=f"The evidence on {node} cannot be read: {error.strerror}.")
    version = f"{status.st_ino}-{status.st_mtime_ns}"
    return EvidenceSliceAnswer(data=base64.b64encode(read).decode(), size=status.st_size, version=version)


def _why_missing(bundles: list[Bundle], round_number: int, node: str) -> str:
    if any(was_dropped(bundle, round_number) for bundle in bundles):
        return f"What {node} had of round {round_number} has made room for newer rounds: it keeps {PARTS}."
    return f"{node} keeps no evidence of round {round_number}."
