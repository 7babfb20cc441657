"""Logs in an S3 bucket: shipped and read back over HTTP; and whatever is wrong is said in one sentence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.utils import timezone

from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from tests.webapp.log_nodes import LogNode
from tests.webapp.s3_server import KEY, SECRET, S3Server
from webapp.accounts.models import Account
from webapp.fleet import asking
from webapp.jobs import log_shipping
from webapp.jobs import log_store as store_module
from webapp.jobs.models import Attempt, Job, ShippedLog, Worker
from webapp.jobs.tasks import ship_logs

LINES = [f"line {number:04}" for number in range(3000)]


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    server = S3Server("logs")
    monkeypatch.setattr(settings, "LOG_STORE", f"s3://logs/regroup?endpoint_url={server.url}")
    set_keys(monkeypatch, KEY, SECRET)
    for module in (log_shipping, store_module):
        monkeypatch.setattr(module, "PIECE_BYTES", 10_000)
    monkeypatch.setattr(log_shipping, "SETTLED_S", 0.0)
    monkeypatch.setattr(log_shipping, "STEP_S", 60.0)
    monkeypatch.setattr(log_shipping, "ANSWER_S", 5.0)
    yield server
    server.stop()
    store_module._open.cache_clear()


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    return make_running_job(anna, ["node-1"])


@pytest.fixture
def node(bus: redis.Redis, tmp_path: Path, job: Job) -> Iterator[LogNode]:
    node = LogNode(tmp_path, "node-1", Attempt.objects.get().id)
    node.write(0, "stdout", "".join(f"{line}\n" for line in LINES).encode(), 1_764_500_000_000)
    Worker.objects.update(ended_at=timezone.now())
    yield node
    node.stop()


def set_keys(monkeypatch: pytest.MonkeyPatch, key: str, secret: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    store_module._open.cache_clear()


def ship() -> int:
    ShippedLog.objects.filter(state="shipping").update(next_try_at=timezone.now())
    return int(ship_logs())


def is_complete() -> bool:
    return ShippedLog.objects.filter(rank=0, stream="stdout", state="complete").exists()


def read(api: Api, job: Job, monkeypatch: pytest.MonkeyPatch, query: str) -> Any:
    monkeypatch.setattr(asking, "ANSWER_S", 0.2)
    answer = api.get(f"/api/jobs/{job.id}/logs?rank=0&{query}")
    assert answer.status == 200, answer.body
    return answer.body


def test_a_log_is_shipped_to_a_bucket_and_read_back_by_pages(
    s3: S3Server, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ship() == 3
    assert is_complete()
    where = f"regroup/{job.id}/1/1/rank-0/stdout"
    pieces = ["000000000000000", "000000000010000", "000000000020000", "times"]
    assert sorted(s3.objects) == [f"{where}/{piece}.gz" for piece in pieces]
    node.stop()
    page = read(operator, job, monkeypatch, "limit=500")
    assert [line["text"] for line in page["items"]] == LINES[-500:]
    older = read(operator, job, monkeypatch, f"limit=500&before={page['previous']}")
    assert [line["text"] for line in older["items"]] == LINES[-1000:-500]
    assert page["unread"][0]["stored"] == "These lines are from the log store, which has all of it."


@pytest.mark.parametrize(
    ("key", "secret", "code"),
    [(KEY, "another secret", "SignatureDoesNotMatch"), ("AKIANOBODY", SECRET, "InvalidAccessKeyId")],
)
def test_wrong_keys_are_said_so_and_lose_nothing(
    key: str,
    secret: str,
    code: str,
    s3: S3Server,
    node: LogNode,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_keys(monkeypatch, key, secret)
    said = what_is_said(caplog)
    assert f"it refuses the keys ({code}). Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of web" in said
    set_keys(monkeypatch, KEY, SECRET)
    assert_all_is_shipped()


def test_a_bucket_that_is_missing_is_said_so_and_loses_nothing(
    s3: S3Server, node: LogNode, caplog: pytest.LogCaptureFixture
) -> None:
    s3.bucket = "others"
    said = what_is_said(caplog)
    assert "it has no bucket logs (NoSuchBucket). Make it, or name another one" in said
    s3.bucket = "logs"
    assert_all_is_shipped()


def test_an_endpoint_that_does_not_answer_is_said_so_and_loses_nothing(
    s3: S3Server, node: LogNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gone = S3Server("logs")
    gone.stop()
    whole = settings.LOG_STORE
    monkeypatch.setattr(settings, "LOG_STORE", f"s3://logs/regroup?endpoint_url={gone.url}")
    said = what_is_said(caplog)
    assert f"{gone.url.removeprefix('http://')} does not answer. Look whether it runs" in said
    monkeypatch.setattr(settings, "LOG_STORE", whole)
    assert_all_is_shipped()


def test_a_page_says_what_is_wrong_with_the_bucket(
    s3: S3Server, node: LogNode, operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship()
    node.stop()
    s3.objects.clear()
    assert "it is not there (NoSuchKey)" in read(operator, job, monkeypatch, "limit=5")["problem"]
    s3.bucket = "others"
    assert "it has no bucket logs" in read(operator, job, monkeypatch, "limit=5")["problem"]


def what_is_said(caplog: pytest.LogCaptureFixture) -> str:
    """Of one step in which nothing can be stored: one sentence that names the store and the piece."""
    with caplog.at_level(logging.WARNING, "regroup.jobs"):
        assert ship() == 0
    said = [record.getMessage() for record in caplog.records if "not shipped yet" in record.getMessage()]
    assert len(said) == 1
    assert "The log store s3://logs/regroup does not take " in said[0]
    assert not [word for word in (KEY, SECRET, "another secret", "AKIANOBODY") if word in said[0]]
    return said[0]


def assert_all_is_shipped() -> None:
    """Steps end at a stream that was put off, so that there may be several."""
    assert sum(ship() for _ in range(2)) == 3
    assert is_complete()
