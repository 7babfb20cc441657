"""Logs of ended workers in the log store: shipped once, whatever is away, and shown when their node is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone

from agents.logs import search
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from tests.webapp.log_nodes import LogNode
from webapp.accounts.models import Account
from webapp.env import BadSetting, log_store
from webapp.fleet import asking
from webapp.jobs import log_search, log_shipping, stored_search
from webapp.jobs import log_store as store_module
from webapp.jobs.models import Attempt, Job, ShippedLog, Worker
from webapp.jobs.tasks import ship_logs

T = 1_764_500_000_000
LINES = [f"line {number:04}" for number in range(3000)]
WHOLE = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "LOG_STORE", str(tmp_path / "store"))
    for module in (log_shipping, store_module):
        monkeypatch.setattr(module, "PIECE_BYTES", 10_000)
    monkeypatch.setattr(log_shipping, "SETTLED_S", 0.0)
    monkeypatch.setattr(log_shipping, "STEP_S", 60.0)
    monkeypatch.setattr(log_shipping, "ANSWER_S", 5.0)
    return tmp_path / "store"


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    return make_running_job(anna, ["node-1"])


@pytest.fixture
def node(bus: redis.Redis, tmp_path: Path, job: Job) -> Iterator[LogNode]:
    node = LogNode(tmp_path, "node-1", Attempt.objects.get().id)
    for rank in (0, 1):
        for part, at in ((WHOLE[:12_000], T), (WHOLE[12_000:], T + 60_000)):
            node.write(rank, "stdout", part, at)
    yield node
    node.stop()


def end_workers() -> None:
    Worker.objects.update(ended_at=timezone.now())


def ship(times: int = 1) -> int:
    """As Celery does, though without its pauses."""
    ShippedLog.objects.filter(state="shipping").update(next_try_at=timezone.now())
    return sum(int(ship_logs()) for _ in range(times))


def states() -> dict[tuple[int, str], str]:
    return {(row.rank, row.stream): row.state for row in ShippedLog.objects.all()}


def go_silent(node: LogNode, monkeypatch: pytest.MonkeyPatch) -> None:
    node.stop()
    monkeypatch.setattr(asking, "ANSWER_S", 0.5)
    monkeypatch.setattr(log_shipping, "ANSWER_S", 0.5)


def lines_of(api: Api, job: Job, query: str) -> Any:
    answer = api.get(f"/api/jobs/{job.id}/logs?{query}")
    assert answer.status == 200, answer.body
    return answer.body


def test_a_stream_is_shipped_once_its_worker_has_ended_and_no_earlier(folder: Path, node: LogNode) -> None:
    assert ship() == 0
    assert states() == {}
    end_workers()
    assert ship() == 6
    assert states()[0, "stdout"] == states()[1, "stdout"] == "complete"
    assert len(list(folder.rglob("0*.gz"))) == 6
    assert ship(3) == 0


def test_a_lost_step_is_done_again_and_gives_the_same(
    folder: Path, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_workers()
    ship()
    ShippedLog.objects.filter(rank=0, stream="stdout").update(end=10_000, state="shipping")
    assert ship() == 2
    go_silent(node, monkeypatch)
    page = lines_of(operator, job, "rank=0&limit=500")
    assert [line["text"] for line in page["items"]] == LINES[-500:]


def test_a_silent_nodes_lines_come_from_the_store_and_say_so(
    folder: Path, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_workers()
    ship()
    live = lines_of(operator, job, "rank=all&limit=300")
    go_silent(node, monkeypatch)
    page = lines_of(operator, job, "rank=0&limit=3")
    assert [line["text"] for line in page["items"]] == LINES[-3:]
    assert page["problem"] is None
    assert page["unread"] == [
        {
            "node": "node-1",
            "why": "node-1 has not answered within 0.5 s. Look whether it is heard.",
            "stored": "These lines are from the log store, which has all of it.",
        }
    ]
    before = lines_of(operator, job, f"rank=0&limit=3&before={page['previous']}")
    assert [line["text"] for line in before["items"]] == LINES[-6:-3]
    merged = lines_of(operator, job, "rank=all&limit=300")
    assert merged["items"] == live["items"]
    response: Any = operator.client.get(f"/api/jobs/{job.id}/logs/download?rank=1", headers=operator.headers)

    async def read() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    assert async_to_sync(read)() == WHOLE


def test_a_search_looks_into_the_store_when_the_node_is_silent(
    folder: Path, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_workers()
    ship()
    both = lines_of(operator, job, "rank=all&q=line%202..7")
    assert len(both["items"]) == 200
    go_silent(node, monkeypatch)
    monkeypatch.setattr(log_search, "TOLD_S", 0.9)
    monkeypatch.setattr(log_search, "SEARCH_S", search.LONGEST_S)
    monkeypatch.setattr(stored_search, "FETCHED_BYTES", 1)
    assert lines_of(operator, job, "rank=0&q=line%202..7")["unsearched_bytes"] > 0
    monkeypatch.setattr(search, "WAIT_S", 0.01)
    with search.AT_ONCE, search.AT_ONCE:
        refused = lines_of(operator, job, "rank=0&q=line")
    assert "In the log store: Two searches are running already" in refused["problem"]
    assert refused["unread"][0]["stored"] is None
    seen: list[str] = []
    page = lines_of(operator, job, "rank=0&q=line%20...7")
    assert page["unread"][0]["stored"] == "These lines are from the log store, which has all of it."
    for _ in range(20):
        seen = [line["text"] for line in page["items"]] + seen
        if page["previous"] is None:
            break
        page = lines_of(operator, job, f"rank=0&q=line%20...7&before={page['previous']}")
    assert seen == [line for line in LINES if line.endswith("7")]
    monkeypatch.setattr(stored_search, "FETCHED_BYTES", 1 << 20)
    assert lines_of(operator, job, "rank=all&q=line%202..7")["items"] == both["items"]


def test_what_was_not_shipped_in_time_is_told_as_a_part(
    folder: Path, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_workers()
    ship()
    ShippedLog.objects.filter(rank=0, stream="stdout").update(end=20_000, state="partial")
    go_silent(node, monkeypatch)
    page = lines_of(operator, job, "rank=0&limit=2")
    stored = "These lines are from the log store, which has it up to byte 20,000."
    assert page["unread"][0]["stored"] == stored
    assert page["items"][-1]["text"] == LINES[1999]


def test_a_silent_node_is_asked_again_later(
    folder: Path, node: LogNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_silent(node, monkeypatch)
    end_workers()
    assert ship() == 0
    assert set(states().values()) == {"shipping"}
    assert ShippedLog.objects.filter(next_try_at__lte=timezone.now()).count() == 0


def test_a_store_that_takes_nothing_loses_nothing(folder: Path, node: LogNode) -> None:
    folder.write_text("a file where the folder should be")
    end_workers()
    assert ship() == 0
    assert "shipping" in states().values()
    folder.unlink()
    assert ship() == 6
    assert states()[0, "stdout"] == "complete"


def test_without_a_store_nothing_is_noted(node: LogNode) -> None:
    end_workers()
    assert ship() == 0
    assert states() == {}


@pytest.mark.parametrize("text", ["logs", "s3://", "ftp://host/logs"])
def test_a_place_that_is_no_store_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGROUP_LOG_STORE", text)
    with pytest.raises(BadSetting, match="REGROUP_LOG_STORE is"):
        log_store()


@pytest.mark.parametrize("text", ["", "/srv/logs", "s3://bucket/regroup?endpoint_url=http://minio:9000"])
def test_a_folder_and_a_bucket_are_stores(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGROUP_LOG_STORE", text)
    assert log_store() == text


def test_a_bucket_is_opened_with_its_prefix_and_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LOG_STORE", "s3://logs/regroup?endpoint_url=http://minio:9000")
    store: Any = store_module.get_store()
    assert (store.bucket_name, store.location, store.endpoint_url) == ("logs", "regroup", "http://minio:9000")
