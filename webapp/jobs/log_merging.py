"""All ranks of a round as one log: each node merges its own, the hub merges the nodes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from agents.logs.gap import LATEST, Gap, read_gap
from agents.logs.source import STREAMS
from agents.wire.log_requests import LogMerge, LogMergeAnswer, MergedLine
from webapp.fleet.asking import Silence, ask_all

from .log_places import read_places, write_places
from .log_questions import Clocks, LogQuestion, empty_page
from .log_schemas import LogLineOut, LogPage, UnreadNode
from .log_shelf import merged_or_stored
from .models import Attempt, Worker

FEWEST_LINES = 20
"""Asked of each of many nodes for one page."""


@dataclass(frozen=True)
class NodeLine:
    """A line with its place by its node's clock and by the hub's."""

    node: str
    line: MergedLine
    own: Gap
    place: Gap


Answers = Mapping[str, LogMergeAnswer | Silence]


def read_merged(attempt: Attempt, workers: Sequence[Worker], question: LogQuestion) -> LogPage:
    """One page. A node that does not answer is named in it, and the others are shown."""
    clocks = Clocks(attempt, workers[0].round)
    nodes = sorted({worker.node for worker in workers})
    places = _places(nodes, question, clocks)
    is_forward = question.after is not None or question.at is not None
    requests = {node: _request(workers[0], question, nodes, places[node], is_forward) for node in nodes}
    told = ask_all(requests, LogMergeAnswer)
    both = {node: merged_or_stored(node, requests[node], told[node]) for node in nodes}
    answers = {node: answer for node, (answer, _) in both.items()}
    page = empty_page(question, attempt.number, workers[0].round)
    page.node = nodes[0] if len(nodes) == 1 else ""
    kept = _merge(answers, clocks, question.limit, is_forward)
    page.items = [line_out(one, clocks) for one in kept]
    _tell_places(page, kept, answers, places, is_forward)
    tell_unread(page, [unread for _, unread in both.values() if unread is not None], answers)
    return page


def _places(nodes: list[str], question: LogQuestion, clocks: Clocks) -> dict[str, Gap]:
    if question.at is not None:
        return {node: Gap(clocks.by_node(node, question.at)) for node in nodes}
    if question.after is not None:
        return read_places(question.after, "after", nodes, clocks)
    if question.before is not None:
        return read_places(question.before, "before", nodes, clocks)
    return dict.fromkeys(nodes, Gap(LATEST))


def _request(
    worker: Worker, question: LogQuestion, nodes: Sequence[str], place: Gap, is_forward: bool
) -> LogMerge:
    return LogMerge(
        id=str(uuid4()),
        attempt=worker.attempt_id,
        round=worker.round,
        rank=question.rank,
        stream=question.one_stream,
        after=place.text() if is_forward else None,
        before=None if is_forward else place.text(),
        limit=min(question.limit, max(FEWEST_LINES, 4 * question.limit // len(nodes))),
    )


def lines_of(answers: Answers, clocks: Clocks) -> dict[str, list[NodeLine]]:
    return {
        node: [_node_line(node, line, clocks) for line in answer.lines]
        for node, answer in answers.items()
        if isinstance(answer, LogMergeAnswer)
    }


def _node_line(node: str, line: MergedLine, clocks: Clocks) -> NodeLine:
    own = Gap(line.at_ms or 0, line.rank, STREAMS.index(line.stream), line.offset)
    return NodeLine(node, line, own, own.later(-clocks.ahead_ms(node)))


def _merge(answers: Answers, clocks: Clocks, limit: int, is_forward: bool) -> list[NodeLine]:
    """The lines next to the place. Beyond the last line of a node that has more nothing is known yet."""
    by_node = lines_of(answers, clocks)
    lines = sorted((one for those in by_node.values() for one in those), key=lambda one: one.place)
    ends = [
        those[-1 if is_forward else 0].place
        for node, those in by_node.items()
        if _is_cut(answers[node]) and those
    ]
    if is_forward:
        last = min(ends, default=Gap(LATEST))
        return [one for one in lines if one.place <= last][:limit]
    first = max(ends, default=Gap(0))
    return [one for one in lines if one.place >= first][-limit:]


def _is_cut(answer: LogMergeAnswer | Silence) -> bool:
    return isinstance(answer, LogMergeAnswer) and answer.is_cut


def _tell_places(
    page: LogPage, kept: list[NodeLine], answers: Answers, places: dict[str, Gap], is_forward: bool
) -> None:
    """For each node where to go on in both directions."""
    bounds = {node: _bound(answers[node], place) for node, place in places.items()}
    first, last = dict(bounds), dict(bounds)
    for one in reversed(kept):
        first[one.node] = one.own
    if is_forward:
        for one in kept:
            last[one.node] = one.own.behind()
    page.next = write_places(last)
    has_older = is_forward or len(kept) < _count(answers) or any(map(_is_cut, answers.values()))
    page.previous = write_places(first) if has_older or _has_silence(answers) else None


def _bound(answer: LogMergeAnswer | Silence, place: Gap) -> Gap:
    """What was asked from; or, where that was the end, where the node says that the end is."""
    if place.at_ms < LATEST:
        return place
    if isinstance(answer, LogMergeAnswer) and answer.last is not None:
        return read_gap(answer.last)
    return Gap(int(time.time() * 1000))


def _count(answers: Answers) -> int:
    return sum(len(answer.lines) for answer in answers.values() if isinstance(answer, LogMergeAnswer))


def _has_silence(answers: Answers) -> bool:
    return any(isinstance(answer, Silence) for answer in answers.values())


def tell_unread(page: LogPage, unread: list[UnreadNode], answers: Answers) -> None:
    """Which nodes had nothing to say, and why; as the page's problem where none had."""
    page.unread = unread
    told = [answer for answer in answers.values() if isinstance(answer, LogMergeAnswer)]
    page.dropped_bytes = sum(answer.dropped for answer in told)
    page.unsearched_bytes = sum(answer.unsearched for answer in told)
    if unread and not page.items and len(unread) == len(answers):
        page.problem = " ".join(one.why for one in page.unread[:3])


def line_out(one: NodeLine, clocks: Clocks) -> LogLineOut:
    line = one.line
    return LogLineOut(
        key=one.place.text(),
        node=one.node,
        rank=line.rank,
        stream=line.stream,
        offset=line.offset,
        text=line.text,
        at=None if line.at_ms is None else clocks.by_hub(one.node, line.at_ms),
        within_s=None if line.within_ms is None else line.within_ms / 1000,
    )
