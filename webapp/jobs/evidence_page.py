"""The page of an evidence bundle: what ended a round, as the hub knows it and the nodes have sent it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape

from agents.wire.masking import hide, secrets_in
from webapp.events.sentences import says
from webapp.masking import mask
from webapp.sealing import KeyTrouble, unseal

from .evidence_schemas import EvidenceRound
from .models import Attempt, Job, Worker
from .words import clock, ended

if TYPE_CHECKING:
    from .evidence_bundle import NodeFiles

LINES, FEW_LINES = 200, 20
"""Of the ranks that failed by themselves, and of the others; the files beside the page have more."""
MOST_RECORDS = 1000
PAGE_BYTES = 8 << 20
"""What logs and stacks may take of the page."""
SHOWN = ("stdout", "stderr")


@dataclass(frozen=True)
class Text:
    """A part of a file that lies beside the page."""

    title: str
    path: str
    text: str


@dataclass(frozen=True)
class Rank:
    rank: int
    node: str
    pid: int
    is_cause: bool
    said: str
    at: str
    traceback: str
    facts: list[tuple[str, str]]
    """How its process stood before it was ended."""
    why_no_stack: str
    texts: list[Text]


@dataclass(frozen=True)
class Happened:
    at: str
    node: str
    says: str


def evidence_page(job: Job, attempt: Attempt, told: EvidenceRound, parts: Sequence[NodeFiles]) -> str:
    by_node = {part.node: part for part in parts}
    start = next((part.facts("start.json") for part in parts if part.packed is not None), {})
    context = {
        "job": job,
        "attempt": attempt,
        "told": told,
        "made_at": timezone.now(),
        "absent": [part for part in parts if part.packed is None],
        "ranks": _ranks(attempt, told.round, by_node),
        "happened": _happened(parts),
        "nodes": [_node(part) for part in parts if part.packed is not None],
        "hooks": told.hooks,
        "spec": _pretty(mask(job.spec)),
        "start": _pretty(start),
    }
    secrets = _secrets(job)
    escaped = tuple(escape(secret) for secret in secrets)
    return hide(render_to_string("jobs/evidence.html", context), secrets + escaped)


def _secrets(job: Job) -> tuple[str, ...]:
    """Nodes have hidden them already; where they cannot be opened here, that has to do."""
    try:
        found = unseal(job.sealed)
    except KeyTrouble:
        return ()
    return secrets_in(*found.values(), marked=job.spec.get("secret_env", ()))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


# -- ranks --


def _ranks(attempt: Attempt, number: int, parts: Mapping[str, NodeFiles]) -> list[Rank]:
    """Those that failed by themselves first."""
    workers = Worker.objects.filter(attempt=attempt, round=number)
    ordered = sorted(workers, key=lambda one: (one.role != "cause", one.rank))
    told = {node: part.facts("part.json").get("ranks", {}) for node, part in parts.items()}
    room, found = PAGE_BYTES, []
    for worker in ordered:
        part = parts.get(worker.node)
        texts = [] if part is None or room <= 0 else _texts(worker, part)
        room -= sum(len(text.text) for text in texts)
        found.append(_rank(worker, told.get(worker.node, {}).get(str(worker.rank), {}), texts))
    return found


def _rank(worker: Worker, told: dict[str, Any], texts: list[Text]) -> Rank:
    error = worker.error or {}
    return Rank(
        rank=worker.rank,
        node=worker.node,
        pid=worker.pid,
        is_cause=worker.role == "cause",
        said=f"{ended(worker.rank, worker.node, worker.said or 'ended in a way that is not known')}.",
        at=clock(worker.ended_at) if worker.ended_at else "",
        traceback=str(error.get("traceback") or ""),
        facts=[(name, str(value)) for name, value in told.get("process", {}).items() if value not in ("", 0)],
        why_no_stack=str(told.get("why_no_stack", "")),
        texts=texts,
    )


def _texts(worker: Worker, part: NodeFiles) -> list[Text]:
    count = LINES if worker.role == "cause" else FEW_LINES
    stacks = [
        ("Stack before it was ended", "stack.txt"),
        ("Stack after the grace, before SIGKILL", "stack-after-grace.txt"),
    ]
    logs = [(f"Last lines of {stream}", f"{stream}.txt") for stream in SHOWN]
    found = []
    for title, name in (*stacks, *logs):
        path = f"rank-{worker.rank}/{name}"
        text = part.text(path)
        if text:
            lines = text.splitlines()[-count:] if name in ("stdout.txt", "stderr.txt") else text.splitlines()
            found.append(Text(title, f"nodes/{part.node}/{path}", "\n".join(lines)))
    return found


# -- what happened --


def _happened(parts: Sequence[NodeFiles]) -> list[Happened]:
    records = [record for part in parts for record in _records(part)]
    records.sort(key=lambda pair: pair[0])
    return [
        Happened(f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}", str(record.get("node", "")), _say(record))
        for at, record in records[-MOST_RECORDS:]
    ]


def _say(record: dict[str, Any]) -> str:
    return says(str(record.get("kind")), record)


def _records(part: NodeFiles) -> list[tuple[datetime, dict[str, Any]]]:
    found = []
    for line in part.text("journal.jsonl").splitlines():
        try:
            record = json.loads(line)
            found.append((datetime.fromisoformat(record["at"]), record))
        except (ValueError, TypeError, KeyError):
            continue
    return found


# -- nodes --


def _node(part: NodeFiles) -> dict[str, Any]:
    told = part.facts("part.json")
    return {
        "name": part.node,
        "cause": told.get("cause", ""),
        "noted_at": told.get("noted_at"),
        "took_ms": None if told.get("took_s") is None else round(1000 * float(told["took_s"])),
        "machine": _pretty(told.get("machine", {})),
        "gpus": told["gpus"] if isinstance(told.get("gpus"), str) else _pretty(told.get("gpus", [])),
        "missing": told.get("missing", []),
        "environment": _pretty(part.facts("environment.json")),
        "runner_log": part.text("runner.log"),
        "files": sorted(part.names),
    }
