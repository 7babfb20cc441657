"""Evidence of rounds that failed, as the hub tells it and as one file; nodes speak the real wire."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from agents.bundle import Bundle, bundle_of
from agents.node.evidence_parts import put_together
from agents.node.requests import answer_to
from agents.node.round_ends import RoundEnd
from agents.wire import streams
from agents.wire.codec import read_request, to_json
from agents.wire.events import EvidenceKept, HookEnded
from agents.wire.masking import MASK
from agents.wire.spec import JobSpec, StartMessage
from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_node, make_running_job
from tests.webapp.journals import entries
from webapp.accounts.models import Account
from webapp.accounts.tokens import make_token
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job
from webapp.redis import get_blocking_redis

AT = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
SECRET = "hunter2-hunter2"
NODES = ("node-1", "node-2")


@pytest.fixture
def job(anna: Account, bus: redis.Redis) -> Job:
    """Rank 3 on node-2, which is not heard any more, was killed in round 1, and round 2 trains on."""
    make_node("node-1")
    make_node("node-2", silent_s=60)
    spec: dict[str, Any] = {"env": {"API_TOKEN": SECRET}, "on_failure": ["./save.sh <now>"]}
    job = make_running_job(anna, NODES, **spec)
    attempt = Attempt.objects.get()
    add_round(attempt, NODES)
    failed = {"role": "cause", "said": "killed by SIGKILL", "ended_at": AT}
    attempt.workers.filter(round=1, rank=3).update(**failed)
    attempt.rounds.filter(number=2).update(charged="node-2")
    take_batch(entries([kept(node, attempt.id, seq=1) for node in NODES]))
    return job


def kept(node: str, attempt: str, seq: int, **fields: Any) -> EvidenceKept:
    source = streams.node_source(node, "1")
    base = {"source": source, "seq": seq, "at": AT, "node": node, "attempt": attempt, "round": 1}
    return EvidenceKept(**{**base, "size_bytes": 2048, "ranks": (0, 1), "stacks": (0,), **fields})


@pytest.fixture
def node_1(job: Job, tmp_path: Path) -> Iterator[Bundle]:
    """The node's part, and somebody who answers for it."""
    bundle = make_part(tmp_path, job)
    is_over = threading.Event()

    def serve() -> None:
        connection = get_blocking_redis()
        while not is_over.is_set():
            found = cast(Any, connection.blpop([streams.requests("node-1")], timeout=0.2))
            if found is not None:
                request = read_request(found[1])
                connection.rpush(streams.answer(request.id), to_json(answer_to(request, tmp_path, "node-1")))

    thread = threading.Thread(target=serve)
    thread.start()
    yield bundle
    is_over.set()
    thread.join(10)


def make_part(data: Path, job: Job) -> Bundle:
    attempt = Attempt.objects.get()
    message = StartMessage(
        attempt=attempt.id,
        job=job.id,
        job_name=job.name,
        number=1,
        node="node-1",
        nodes=NODES,
        min_nodes=2,
        max_nodes=2,
        endpoint="127.0.0.1:29400",
        hosts_store=True,
        local_addr="127.0.0.1",
        spec=JobSpec(script="/data/train.py", env={"API_TOKEN": SECRET}),
    )
    bundle = bundle_of(Bundle, data, attempt.id)
    bundle.create(message)
    for rank in (0, 1):
        bundle.rank_folder(1, rank).mkdir(parents=True)
        bundle.log(1, rank, "stdout").write_text(f"<b>rank {rank}</b> has {SECRET}\n")
    folder = bundle.evidence_folder(1)
    folder.mkdir(parents=True)
    (bundle.rank_folder(1, 0) / "stacks.txt").write_text('  File "train.py", line 7 in all_reduce\n')
    stood = {"stack": {"how": "faulthandler", "from": 0, "to": 39}, "log_bytes": {"stdout": 5}}
    (folder / "before.json").write_text(
        json.dumps({"at": AT.isoformat(), "took_s": 0.004, "ranks": {"0": stood}})
    )
    record = {"kind": "restart_begun", "at": AT.isoformat(), "node": "node-1", "round": 1}
    record |= {"cause": "failure", "failed_ranks": [], "source": "s", "seq": 4}
    end = RoundEnd(1, True, False, "Rank 0 lost the connection.", None, {}, (json.dumps(record),))
    put_together(bundle, message, end, "none")
    return bundle


def test_a_failed_round_is_told_with_what_each_node_keeps(viewer: Api, job: Job) -> None:
    told = viewer.get(f"/api/jobs/{job.id}/evidence").body
    assert told["level"] == "fast"
    (failed,) = told["rounds"]
    assert (failed["attempt"], failed["round"], failed["has_failed"]) == (1, 1, True)
    assert failed["cause"] == "Rank 3 on node-2 was killed by SIGKILL."
    first, second = failed["nodes"]
    assert (first["node"], first["state"], first["stacks"]) == ("node-1", "kept", [0])
    assert (second["node"], second["state"]) == ("node-2", "unreachable")
    assert second["why"] == "node-2 is not heard; what it keeps can be had when it is back."


def test_what_a_node_tells_again_or_has_dropped_is_one_row(viewer: Api, job: Job) -> None:
    attempt = Attempt.objects.get().id
    again = kept("node-1", attempt, 2)
    later = kept("node-1", attempt, 3, round=2, dropped=(1,))
    take_batch(entries([again, later]))
    by_round = {one["round"]: one for one in viewer.get(f"/api/jobs/{job.id}/evidence").body["rounds"]}
    assert by_round[1]["nodes"][0]["state"] == "dropped"
    assert by_round[2]["nodes"][0]["state"] == "kept"


def test_a_command_of_the_job_is_told_with_its_end_and_its_output(viewer: Api, job: Job) -> None:
    base = kept("node-1", Attempt.objects.get().id, 2)
    ended = HookEnded(
        source=base.source,
        seq=2,
        at=AT,
        node="node-1",
        attempt=base.attempt,
        round=1,
        hook="on_failure",
        index=0,
        outcome="ended",
        exit_code=3,
        took_s=0.5,
        said="ended with exit code 3",
        output="saved\n",
        output_bytes=6,
    )
    take_batch(entries([ended, replace(ended, seq=3)]))
    ((hook,),) = [one["hooks"] for one in viewer.get(f"/api/jobs/{job.id}/evidence").body["rounds"]]
    assert (hook["command"], hook["exit_code"], hook["output"]) == ("./save.sh <now>", 3, "saved\n")


@pytest.mark.django_db(transaction=True)
async def test_the_file_has_all_that_can_be_had_and_names_the_node_that_is_away(
    vera: Account, job: Job, node_1: Bundle
) -> None:
    token = await sync_to_async(make_token)(vera)
    path = f"/api/jobs/{job.id}/evidence/1"
    response: Any = await AsyncClient().get(path, headers={"authorization": f"Bearer {token}"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"] == f'attachment; filename="char-lm-{job.id}-round-1.zip"'
    data = b"".join([piece async for piece in response.streaming_content])
    assert len(data) == int(response["Content-Length"])
    packed = zipfile.ZipFile(io.BytesIO(data))
    page = packed.read("index.html").decode()
    assert "Rank 3 on node-2 was killed by SIGKILL." in page
    assert "Nothing of node-2 is in here. node-2 is not heard" in page
    assert "node-1 leaves round 1" in page
    assert "line 7 in all_reduce" in page
    assert f"&lt;b&gt;rank 0&lt;/b&gt; has {MASK}" in page
    assert "<b>rank" not in page
    assert 'href="nodes/node-1/rank-0/stack.txt"' in page
    assert (
        packed.read("nodes/node-1/rank-0/stack.txt").decode().strip()
        == 'File "train.py", line 7 in all_reduce'
    )
    assert all(SECRET.encode() not in packed.read(name) for name in packed.namelist())


def test_what_cannot_be_had_says_why(viewer: Api, job: Job) -> None:
    away = viewer.get(f"/api/jobs/{job.id}/evidence/1")
    assert (away.status, away.body["reason"]) == (503, "evidence_unavailable")
    assert "node-1 has not answered within 3 s." in away.body["what"]
    assert "node-2 is not heard" in away.body["what"]
    nothing = viewer.get(f"/api/jobs/{job.id}/evidence/2")
    assert nothing.body["what"] == f"Nothing is kept of round 2 of job {job.id}."
    assert viewer.get(f"/api/jobs/{job.id}/evidence/1?attempt=9").status == 404


def test_one_command_need_not_be_a_list(operator: Api, bus: redis.Redis) -> None:
    launched = operator.post("/api/jobs", {"script": "/srv/train.py", "on_failure": "dmesg | tail"})
    assert launched.body["spec"]["on_failure"] == ["dmesg | tail"]
