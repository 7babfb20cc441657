"""A search in the streams of a round, from their ends backwards, by a process that is killed in time.

A pattern may take for ever on a line that happens to be unlucky, and Python's matcher cannot be interrupted.
So it runs in a process of its own; what that one has told until the time is over counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..wire.log_requests import LogMergeAnswer, LogSearch
from .gap import Gap
from .lines import Line
from .merging import Keyed, gap_at, offset_of
from .pages import merged_line
from .source import FileSource
from .times import Moment

LONGEST_S = 10.0
AT_ONCE = threading.BoundedSemaphore(2)
"""Each takes a core while it lasts."""
WAIT_S = 1.0


@dataclass(frozen=True)
class Found:
    lines: tuple[Keyed, ...] = ()
    first: Gap | None = None
    """Give it to search on in what is older. None: all of it has been searched."""
    is_cut: bool = False
    """There were more than are wanted."""
    unsearched: int = 0
    problem: str = ""


@dataclass
class _Searched:
    """How far the search has come in one stream."""

    source: FileSource
    low: int
    """Where the searched part begins."""
    lines: list[Keyed] = field(default_factory=list)
    is_full: bool = False
    """It holds as many hits as are wanted, and there may be more before them."""

    def edge(self) -> Gap:
        return self.lines[-1].gap if self.is_full else _gap_of(self.source, self.low)


def search(sources: Sequence[FileSource], request: LogSearch, gap: Gap) -> Found:
    """The newest lines before the gap that match."""
    return search_before(sources, request, [offset_or_end(source, gap) for source in sources])


def search_before(sources: Sequence[FileSource], request: LogSearch, ends: Sequence[int]) -> Found:
    """The same, where it is known where in each stream the gap is."""
    searched = [_Searched(source, end) for source, end in zip(sources, ends, strict=True)]
    if not AT_ONCE.acquire(timeout=WAIT_S):
        return Found(problem="Two searches are running already. Try again in a few seconds.")
    try:
        problem = _run(searched, request)
    finally:
        AT_ONCE.release()
    return _sum_up(searched, request.limit, problem)


def offset_or_end(source: FileSource, gap: Gap) -> int:
    """What nobody has noted yet is searched too, unless it is older lines that are wanted."""
    return source.size if gap.at_ms > source.changed_ms else offset_of(source, gap)


def _run(searched: list[_Searched], request: LogSearch) -> str:
    """Fill in what the process tells. Gives why it has told nothing, or the empty text."""
    environment = dict(os.environ)
    roots = (str(Path(__file__).parents[2]), environment.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, roots))
    limit_s = min(LONGEST_S, max(0.1, request.limit_s))
    child = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.searcher", str(int(limit_s) + 1)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
    )
    killer = threading.Timer(limit_s, child.kill)
    killer.start()
    try:
        return _listen(child, searched, request)
    finally:
        killer.cancel()
        child.kill()
        child.wait()


def _listen(child: subprocess.Popen[bytes], searched: list[_Searched], request: LogSearch) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        with suppress(OSError):
            child.stdin.write(_question(searched, request))
            child.stdin.close()
        for told in child.stdout:
            try:
                answer = json.loads(told)
            except ValueError:
                break  # it was killed in the middle of a word
            if "problem" in answer:
                return str(answer["problem"])
            _take(searched[answer["index"]], answer)
    return ""


def _question(searched: list[_Searched], request: LogSearch) -> bytes:
    streams = [
        {"path": str(one.source.path), "floor": max(one.source.floor, one.source.held_from), "end": one.low}
        for one in searched
    ]
    asked = {"pattern": request.pattern, "is_case_sensitive": request.is_case_sensitive}
    return json.dumps({**asked, "limit": max(1, request.limit), "streams": streams}).encode()


def _take(one: _Searched, answer: dict[str, Any]) -> None:
    """Newest first."""
    for offset, text in answer["hits"]:
        moment = one.source.times.at(offset)
        place = gap_at(one.source, offset, moment or Moment(one.source.changed_ms, None))
        one.lines.append(Keyed(place, one.source, Line(offset, text.encode()), moment))
    one.low, one.is_full = answer["low"], answer["is_full"]


def _gap_of(source: FileSource, offset: int) -> Gap:
    return gap_at(source, offset, source.times.at(offset) or Moment(source.changed_ms, None))


def _sum_up(searched: list[_Searched], limit: int, problem: str) -> Found:
    unfinished = [one for one in searched if one.is_full or one.low > one.source.floor]
    full = max((one.edge() for one in unfinished if one.is_full), default=Gap(0))
    found = sorted((line for one in searched for line in one.lines if line.gap >= full), key=_place)
    kept = tuple(found[-limit:])
    edges = [one.edge() for one in unfinished]
    is_cut = any(one.is_full for one in searched) or len(kept) < sum(len(one.lines) for one in searched)
    if kept and is_cut:
        edges.append(kept[0].gap)
    return Found(
        lines=kept,
        first=max(edges) if edges and not problem else None,
        is_cut=is_cut,
        unsearched=sum(one.low - one.source.floor for one in unfinished),
        problem=problem,
    )


def answer_of(found: Found, sources: Sequence[FileSource], where: str) -> LogMergeAnswer:
    """``where``: on which node, or in the log store."""
    return LogMergeAnswer(
        lines=tuple(merged_line(one) for one in found.lines),
        first=None if found.first is None else found.first.text(),
        is_cut=found.is_cut,
        dropped=sum(source.floor for source in sources),
        unsearched=found.unsearched,
        problem=f"{where}: {found.problem}" if found.problem else None,
    )


def _place(one: Keyed) -> Gap:
    return one.gap
