"""All ranks of a job as one log, searches in it, and files of it, over nodes that answer or do not."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import redis
from asgiref.sync import async_to_sync

from tests.waiting import wait_until
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from tests.webapp.log_nodes import LogNode
from webapp.accounts.models import Account
from webapp.fleet import asking
from webapp.jobs.models import Attempt, Job, NodeMoments

T = 1_764_500_000_000

StartNode = Callable[[str], LogNode]


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    make_node("node-2")
    return make_running_job(anna, ["node-1", "node-2"])


@pytest.fixture
def start_node(bus: redis.Redis, tmp_path: Path, job: Job) -> Iterator[StartNode]:
    started: list[LogNode] = []

    def start(name: str) -> LogNode:
        started.append(LogNode(tmp_path, name, Attempt.objects.get().id))
        return started[-1]

    yield start
    for node in started:
        node.stop()


@pytest.fixture
def nodes(start_node: StartNode) -> tuple[LogNode, LogNode]:
    """Ranks 0 and 1 on the first, 2 and 3 on the second; each writes a line a second, in turn."""
    first, second = start_node("node-1"), start_node("node-2")
    for number in range(40):
        node = first if number % 4 < 2 else second
        stream = "stderr" if number % 8 >= 4 else "stdout"
        node.write(number % 4, stream, f"line {number:02}\n".encode(), T + 1000 * number)
    return first, second


def ask(api: Api, job: Job, query: str) -> Any:
    answer = api.get(f"/api/jobs/{job.id}/logs?{query}")
    assert answer.status == 200, answer.body
    return answer.body


def texts(page: Any) -> list[str]:
    return [line["text"] for line in page["items"]]


ALL = [f"line {number:02}" for number in range(40)]


def test_all_ranks_of_all_nodes_are_one_log(operator: Api, job: Job, nodes: tuple[LogNode, LogNode]) -> None:
    page = ask(operator, job, "rank=all&stream=both")
    assert texts(page) == ALL
    last = page["items"][-1]
    assert (last["node"], last["rank"], last["stream"], last["within_s"]) == ("node-2", 3, "stderr", 0.25)
    assert datetime.fromisoformat(last["at"]) == datetime.fromtimestamp((T + 39_000) / 1000, UTC)
    assert (page["previous"], page["unread"], page["problem"]) == (None, [], None)
    assert texts(ask(operator, job, "rank=all")) == [
        text for number, text in enumerate(ALL) if number % 8 < 4
    ]
    assert texts(ask(operator, job, "rank=2&stream=both")) == ALL[2::4]


def test_its_pages_give_every_line_once_in_both_directions(
    operator: Api, job: Job, nodes: tuple[LogNode, LogNode]
) -> None:
    page = ask(operator, job, "rank=all&stream=both&limit=7")
    back, end = texts(page), page["next"]
    while page["previous"]:
        page = ask(operator, job, f"rank=all&stream=both&limit=7&before={page['previous']}")
        back = texts(page) + back
    assert back == ALL
    nodes[1].write(2, "stdout", b"one more\n", int(time.time() * 1000))
    newer = f"rank=all&stream=both&after={end}"
    assert wait_until(lambda: texts(ask(operator, job, newer)), 5, "the new line") == ["one more"]
    on: list[str] = []
    place = "0.0.0.0"
    while found := texts(page := ask(operator, job, f"rank=all&stream=both&limit=7&after={place}")):
        on, place = on + found, page["next"]
    assert on == [*ALL, "one more"]


def test_a_moment_and_a_line_are_places_to_go_to(
    operator: Api, job: Job, nodes: tuple[LogNode, LogNode]
) -> None:
    at = quote(datetime.fromtimestamp((T + 20_000) / 1000, UTC).isoformat())
    page = ask(operator, job, f"rank=all&stream=both&limit=3&at={at}")
    assert texts(page) == ALL[20:23]
    before = ask(operator, job, f"rank=all&stream=both&limit=3&before={page['previous']}")
    assert texts(before) == ALL[17:20]
    key = page["items"][1]["key"]
    assert texts(ask(operator, job, f"rank=all&stream=both&limit=2&after={key}")) == ALL[21:23]
    assert texts(ask(operator, job, f"rank=all&stream=both&limit=2&before={key}")) == ALL[19:21]
    assert texts(ask(operator, job, f"rank=0&limit=1&at={at}")) == ["line 24"]


def test_a_node_whose_clock_is_ahead_is_put_right_and_loses_no_line(
    operator: Api, job: Job, start_node: StartNode
) -> None:
    first, second = start_node("node-1"), start_node("node-2")
    NodeMoments.objects.create(
        attempt=Attempt.objects.get(), node="node-2", round=1, offset_s=3600.0, error_s=0.001
    )
    for number in range(20):
        node, ahead_ms = (first, 0) if number % 2 == 0 else (second, 3_600_000)
        node.write(number % 2 * 2, "stdout", f"line {number:02}\n".encode(), T + 1000 * number + ahead_ms)
    page = ask(operator, job, "rank=all&limit=6")
    seen = texts(page)
    assert page["items"][-1]["at"] == "2025-11-30T10:53:39Z"
    while page["previous"]:
        page = ask(operator, job, f"rank=all&limit=6&before={page['previous']}")
        seen = texts(page) + seen
    assert seen == ALL[:20]


def test_a_silent_node_is_named_and_the_others_are_shown(
    operator: Api, job: Job, nodes: tuple[LogNode, LogNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes[1].stop()
    monkeypatch.setattr(asking, "ANSWER_S", 1.0)
    page = ask(operator, job, "rank=all&stream=both")
    assert texts(page) == [text for number, text in enumerate(ALL) if number % 4 < 2]
    assert [one["node"] for one in page["unread"]] == ["node-2"]
    assert page["unread"][0]["why"] == "node-2 has not answered within 1 s. Look whether it is heard."
    assert page["problem"] is None


def test_a_search_finds_lines_of_all_ranks_and_their_places_lead_there(
    operator: Api, job: Job, nodes: tuple[LogNode, LogNode]
) -> None:
    page = ask(operator, job, f"q={quote('line [12]0')}&stream=both")
    assert texts(page) == ["line 10", "line 20"]
    key = page["items"][0]["key"]
    assert texts(ask(operator, job, f"rank=all&stream=both&limit=2&after={key}")) == ALL[10:12]
    one = ask(operator, job, f"q={quote('[13]2')}&rank=0&stream=stderr")
    assert texts(one) == ["line 12"]
    assert texts(ask(operator, job, f"rank=0&stream=stderr&limit=1&after={one['items'][0]['key']}")) == [
        "line 12"
    ]
    assert texts(ask(operator, job, "q=LINE&case=true")) == []


def test_a_search_goes_on_in_what_is_older(operator: Api, job: Job, nodes: tuple[LogNode, LogNode]) -> None:
    page = ask(operator, job, "q=line&stream=both&limit=9")
    seen = texts(page)
    while page["previous"]:
        page = ask(operator, job, f"q=line&stream=both&limit=9&before={page['previous']}")
        seen = texts(page) + seen
    assert seen == ALL


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("q=(", "q"),
        ("q=a&after=0.0.0.0", "q"),
        (f"q={'a' * 501}", "q"),
        ("rank=all&before=nonsense", "before"),
        ("rank=all&after=1.2.3", "after"),
        ("before=1&at=2025-11-30T10:53:39Z", "before"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    operator: Api, job: Job, query: str, where: str
) -> None:
    answer = operator.get(f"/api/jobs/{job.id}/logs?{query}")
    assert (answer.status, answer.body["where"]) == (422, where)


def test_a_stream_comes_as_a_file_plain_or_packed(
    operator: Api, job: Job, nodes: tuple[LogNode, LogNode]
) -> None:
    data = bytes(range(256)) * 10_000
    nodes[0].write(1, "stdout", data, T)
    whole = nodes[0].bundle.log(1, 1, "stdout").read_bytes()
    address = f"/api/jobs/{job.id}/logs/download?rank=1"
    plain, packed = _file(operator, address), _file(operator, f"{address}&gz=true")
    assert plain == (whole, f'attachment; filename="job-{job.id}-attempt-1-round-1-rank-1-stdout.log"')
    assert gzip.decompress(packed[0]) == whole
    assert packed[1].endswith('.log.gz"')
    assert operator.get(f"{address}&round=9").status == 404


def test_no_file_comes_from_a_silent_node(
    operator: Api, job: Job, bus: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_S", 0.5)
    answer = operator.get(f"/api/jobs/{job.id}/logs/download?rank=1")
    assert (answer.status, answer.body["reason"]) == (503, "node_silent")


def _file(api: Api, address: str) -> tuple[bytes, str]:
    response: Any = api.client.get(address, headers=api.headers)
    assert response.status_code == 200

    async def read() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    return async_to_sync(read)(), response["Content-Disposition"]
