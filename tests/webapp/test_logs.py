"""Log lines, asked of a node that speaks the real wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from agents.wire import streams
from agents.wire.codec import read_request
from agents.wire.commands import LogLine, LogSlice, LogSliceAnswer
from agents.wire.plain import to_json
from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet import asking
from webapp.jobs.models import Attempt, Job
from webapp.redis import get_blocking_redis

AnswerWith = Callable[[LogSliceAnswer], list[LogSlice]]


@pytest.fixture
def node_answers(bus: redis.Redis) -> Iterator[AnswerWith]:
    """Answers one request at ``node-1``; gives the list into which it puts what it was asked."""
    asked: list[LogSlice] = []
    threads: list[threading.Thread] = []

    def answer_one(answer: LogSliceAnswer) -> None:
        connection = get_blocking_redis()
        found: Any = connection.blpop([streams.requests("node-1")], timeout=10)
        request = read_request(found[1])
        assert isinstance(request, LogSlice)
        asked.append(request)
        connection.rpush(streams.answer(request.id), to_json(answer))

    def start(answer: LogSliceAnswer) -> list[LogSlice]:
        threads.append(threading.Thread(target=answer_one, args=(answer,)))
        threads[-1].start()
        return asked

    yield start
    for thread in threads:
        thread.join(10)


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    return make_running_job(anna, ["node-1"])


def test_the_newest_round_of_rank_0_is_shown_by_default(
    operator: Api, job: Job, node_answers: AnswerWith
) -> None:
    add_round(Attempt.objects.get(), ["node-1"])
    lines = (LogLine(offset=40, text="step 1"), LogLine(offset=47, text="step 2"))
    asked = node_answers(LogSliceAnswer(lines=lines, start=40, end=54, size=54))
    page = operator.get(f"/api/jobs/{job.id}/logs").body
    assert [line["text"] for line in page["items"]] == ["step 1", "step 2"]
    assert (page["previous"], page["next"]) == ("40", "54")
    assert (page["node"], page["attempt"], page["round"], page["rank"]) == ("node-1", 1, 2, 0)
    assert (asked[0].stream, asked[0].after, asked[0].before) == ("stdout", None, None)


def test_lines_before_and_after_an_offset_of_an_older_round(
    operator: Api, job: Job, node_answers: AnswerWith
) -> None:
    add_round(Attempt.objects.get(), ["node-1"])
    asked = node_answers(LogSliceAnswer(lines=(LogLine(offset=0, text="begin"),), start=0, end=6, size=54))
    page = operator.get(f"/api/jobs/{job.id}/logs?round=1&rank=1&stream=stderr&before=6&limit=7").body
    assert (page["previous"], page["next"]) == (None, "6")
    assert (asked[0].round, asked[0].rank, asked[0].stream) == (1, 1, "stderr")
    assert (asked[0].before, asked[0].limit) == (6, 7)


def test_a_node_that_says_why_not_is_quoted(operator: Api, job: Job, node_answers: AnswerWith) -> None:
    node_answers(LogSliceAnswer(problem="The file is not there yet."))
    page = operator.get(f"/api/jobs/{job.id}/logs").body
    assert (page["items"], page["problem"]) == ([], "The file is not there yet.")


def test_a_silent_node_is_said_so(
    operator: Api, job: Job, bus: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_S", 1.0)
    page = operator.get(f"/api/jobs/{job.id}/logs").body
    assert page["problem"] == "node-1 has not answered within 1 s. Look whether it is heard."


def test_redis_that_does_not_answer_is_said_so(operator: Api, job: Job, no_redis: None) -> None:
    assert "Redis does not answer" in operator.get(f"/api/jobs/{job.id}/logs").body["problem"]


def test_what_has_no_log_yet_says_why(operator: Api, anna: Account, job: Job) -> None:
    queued = make_job(anna)
    assert "has not been started yet" in operator.get(f"/api/jobs/{queued.id}/logs").body["problem"]
    assert "Rank 9 of attempt 1" in operator.get(f"/api/jobs/{job.id}/logs?rank=9").body["problem"]
    assert "in round 5" in operator.get(f"/api/jobs/{job.id}/logs?round=5").body["problem"]
    assert operator.get(f"/api/jobs/{job.id}/logs?attempt=2").status == 404


def test_before_and_after_exclude_each_other(operator: Api, job: Job) -> None:
    assert operator.get(f"/api/jobs/{job.id}/logs?before=1&after=2").status == 422
