"""A search in logs: each node searches its own at the same time, from the newest line backwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from uuid import uuid4

from agents.logs.gap import Gap, read_gap
from agents.wire.log_requests import LogMergeAnswer, LogSearch
from webapp.fleet.asking import ANSWER_S, Silence, ask_all

from .log_merging import Answers, NodeLine, line_out, lines_of, tell_unread
from .log_places import read_places, write_places
from .log_questions import Clocks, LogQuestion, empty_page
from .log_schemas import LogPage
from .log_shelf import searched_or_stored
from .models import Attempt, Worker

SEARCH_S = 4.0
"""How long a node may search for one answer."""
TOLD_S = ANSWER_S + SEARCH_S
"""After which a node that has not answered counts as silent."""
STORE_S = 4.0
"""For so long searches in the log store are begun, one after another."""


def search_log(attempt: Attempt, workers: Sequence[Worker], question: LogQuestion) -> LogPage:
    """The newest lines that match, oldest first. ``previous`` searches on in what is older."""
    clocks = Clocks(attempt, workers[0].round)
    nodes = sorted({worker.node for worker in workers})
    is_one = question.rank is not None and question.one_stream is not None
    places = _places(nodes, question, clocks)
    requests = {node: _request(workers[0], question, places.get(node)) for node in nodes}
    told = ask_all(requests, LogMergeAnswer, TOLD_S)
    until = time.monotonic() + STORE_S
    both = {node: searched_or_stored(node, requests[node], told[node], until) for node in nodes}
    answers = {node: answer for node, (answer, _) in both.items()}
    page = empty_page(question, attempt.number, workers[0].round)
    page.node = nodes[0] if len(nodes) == 1 else ""
    kept = _newest(answers, clocks, question.limit)
    page.items = [line_out(one, clocks) for one in kept]
    if is_one:
        # There a line's place is its offset, as in the pages of that log.
        for item in page.items:
            item.key = str(item.offset)
    page.previous = _where_to_go_on(kept, answers)
    tell_unread(page, [unread for _, unread in both.values() if unread is not None], answers)
    return page


def _places(nodes: list[str], question: LogQuestion, clocks: Clocks) -> dict[str, Gap]:
    if question.before is None:
        return {}
    return read_places(question.before, "before", nodes, clocks)


def _request(worker: Worker, question: LogQuestion, place: Gap | None) -> LogSearch:
    return LogSearch(
        id=str(uuid4()),
        attempt=worker.attempt_id,
        round=worker.round,
        rank=question.rank,
        stream=question.one_stream,
        pattern=question.pattern or "",
        is_case_sensitive=question.is_case_sensitive,
        before=None if place is None else place.text(),
        limit=question.limit,
        limit_s=SEARCH_S,
    )


def _newest(answers: Answers, clocks: Clocks, limit: int) -> list[NodeLine]:
    """Of nodes that found more than enough, older hits are not known: there the hits of all end."""
    by_node = lines_of(answers, clocks)
    cut = [those[0].place for node, those in by_node.items() if those and _is_cut(answers[node])]
    first = max(cut, default=Gap(0))
    lines = sorted((one for those in by_node.values() for one in those), key=lambda one: one.place)
    return [one for one in lines if one.place >= first][-limit:]


def _is_cut(answer: LogMergeAnswer | Silence) -> bool:
    return isinstance(answer, LogMergeAnswer) and answer.is_cut


def _where_to_go_on(kept: list[NodeLine], answers: Answers) -> str | None:
    """None: everything has been searched."""
    places: dict[str, Gap] = {}
    for node, answer in answers.items():
        if not isinstance(answer, LogMergeAnswer) or answer.problem is not None:
            continue
        mine = [one for one in kept if one.node == node]
        if len(mine) < len(answer.lines):
            places[node] = mine[0].own if mine else _behind_last(answer)
        elif answer.first is not None:
            places[node] = read_gap(answer.first)
    return write_places({node: places.get(node, Gap(0)) for node in answers}) if places else None


def _behind_last(answer: LogMergeAnswer) -> Gap:
    line = answer.lines[-1]
    return Gap(line.at_ms or 0, line.rank, 0 if line.stream == "stdout" else 1, line.offset).behind()
