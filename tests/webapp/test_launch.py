"""From a request to commands for nodes: queued, placed, started in two steps."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from django.db import connection

from agents.wire import streams
from agents.wire.codec import read_command
from agents.wire.commands import StartRunner
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.launch import start_members, stop_others
from webapp.jobs.models import Attempt, Job
from webapp.jobs.placing import place as place_by_id
from webapp.jobs.sealed import opened
from webapp.jobs.tasks import place_queued


def place(job: Job) -> bool:
    return place_by_id(job.pk)


def start_of(command: Command) -> StartRunner:
    message = read_command(json.dumps(command.body))
    assert isinstance(message, StartRunner)
    return message


def test_a_new_job_is_queued_and_shows_who_and_when(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/data/train.py", "nnodes": "1:2"})
    assert answer.status == 201
    body = answer.body
    assert (body["name"], body["state"], body["created_by"]) == ("train", "queued", "anna")
    assert body["created_at"]
    assert body["nodes"] == {"min": 1, "max": 2, "wanted": 2, "formed": 0, "alive": 0}


def test_secrets_in_the_environment_are_kept_but_not_shown(operator: Api) -> None:
    env = {"WANDB_API_KEY": "k-1", "EPOCHS": "3", "DATABASE_URL": "postgres://u:pw@db/x"}
    body = operator.post("/api/jobs", {"script": "/data/train.py", "env": env}).body
    assert body["spec"]["env"]["EPOCHS"] == "3"
    assert "k-1" not in str(body)
    assert "pw" not in body["spec"]["env"]["DATABASE_URL"]
    assert opened(Job.objects.get(pk=body["id"])) == {
        "env": {"WANDB_API_KEY": "k-1", "DATABASE_URL": "postgres://u:pw@db/x"}
    }


def test_the_password_for_etcd_is_kept_but_not_shown(operator: Api) -> None:
    conf = {"user": "trainer", "password": "pw-1", "ssl_cert_key": "/etc/k.pem"}
    spec = {"rdzv_backend": "etcd", "rdzv_endpoint": "etcd-1", "rdzv_conf": conf}
    body = operator.post("/api/jobs", {"script": "/data/train.py", **spec}).body
    assert (body["spec"]["rdzv_conf"]["user"], body["spec"]["rdzv_conf"]["ssl_cert_key"]) == (
        "trainer",
        "/etc/k.pem",
    )
    assert "pw-1" not in str(body)
    assert opened(Job.objects.get(pk=body["id"])) == {"rdzv_conf": {"password": "pw-1"}}


def test_a_queued_job_goes_to_nodes_with_room(anna: Account) -> None:
    make_node("node-1")
    make_node("node-2", slots=4)
    job = make_job(anna, nnodes="1:3", nproc_per_node=2)
    assert place_queued() == 1
    attempt = Attempt.objects.get(job=job)
    assert [m.node for m in attempt.members.all()] == ["node-1", "node-2"]
    first = start_of(Command.objects.get())
    assert first.message.node == attempt.store_host == "node-2"
    assert first.message.hosts_store
    assert first.message.endpoint == "127.0.0.1:0"
    assert first.message.nodes == ("node-2", "node-1")
    assert (first.message.min_nodes, first.message.max_nodes) == (1, 3)
    job.refresh_from_db()
    assert job.state != "queued"


def test_a_placed_job_is_not_placed_again(anna: Account) -> None:
    make_node("node-1", slots=8)
    job = make_job(anna)
    assert place(job)
    assert not place(job)
    assert place_queued() == 0
    assert Attempt.objects.count() == 1


def test_the_other_nodes_start_once_the_endpoint_is_known(anna: Account) -> None:
    make_node("node-1")
    make_node("node-2")
    place(make_job(anna, nnodes="2"))
    attempt = Attempt.objects.get()
    assert start_members(attempt) == 0
    attempt.endpoint = "127.0.0.1:40123"
    attempt.save()
    assert start_members(attempt) == 1
    assert start_members(attempt) == 0
    second = start_of(Command.objects.exclude(node=attempt.store_host).get())
    assert second.message.endpoint == "127.0.0.1:40123"
    assert not second.message.hosts_store


def test_slots_are_held_until_the_node_says_that_nothing_is_left(anna: Account) -> None:
    make_node("node-1", slots=2)
    place(make_job(anna, "first", nproc_per_node=2))
    waiting = make_job(anna, "second", nproc_per_node=1)
    assert place_queued() == 0
    waiting.refresh_from_db()
    assert "node-1 has 0 of 2 free (held by job" in waiting.state_reason
    assert "first" in waiting.state_reason
    Attempt.objects.get().members.update(settled_at=waiting.created_at)
    assert place_queued() == 1


def test_a_named_endpoint_is_given_to_its_owner(anna: Account) -> None:
    make_node("node-1", addresses=["10.0.0.1"])
    make_node("node-2", addresses=["10.0.0.2"])
    place(make_job(anna, nnodes="2", rdzv_endpoint="10.0.0.2"))
    first = start_of(Command.objects.get())
    assert (first.message.node, first.message.endpoint) == ("node-2", "10.0.0.2:29400")


def starts() -> list[StartRunner]:
    return [start_of(command) for command in Command.objects.order_by("node")]


def test_a_store_of_ones_own_is_nobodys_host_and_all_nodes_start_at_once(anna: Account) -> None:
    make_node("node-1")
    make_node("node-2")
    place(make_job(anna, nnodes="2", rdzv_backend="etcd", rdzv_endpoint="etcd-1,etcd-2:4000"))
    assert [(one.message.endpoint, one.message.hosts_store) for one in starts()] == [
        ("etcd-1:2379,etcd-2:4000", False)
    ] * 2
    assert Attempt.objects.get().store_host == ""


def test_a_c10d_store_that_is_there_already_has_no_owner_among_the_nodes(anna: Account) -> None:
    make_node("node-1")
    place(make_job(anna, rdzv_endpoint="elsewhere", rdzv_conf={"is_host": "false"}))
    (start,) = starts()
    assert (start.message.endpoint, start.message.hosts_store) == ("elsewhere:29400", False)


def test_static_meets_at_torchruns_port_on_the_first_of_its_nodes(anna: Account) -> None:
    make_node("node-1", addresses=["10.0.0.1"])
    make_node("node-2", addresses=["10.0.0.2"])
    place(make_job(anna, nnodes="2", rdzv_backend="static", rdzv_endpoint="10.0.0.2"))
    (start,) = starts()
    assert (start.message.endpoint, start.message.nodes) == ("10.0.0.2:29500", ("node-2", "node-1"))


def test_standalone_meets_on_localhost(anna: Account) -> None:
    make_node("node-1", addresses=["10.0.0.1"])
    place(make_job(anna, standalone=True))
    (start,) = starts()
    assert (start.message.endpoint, start.message.local_addr) == ("127.0.0.1:0", "127.0.0.1")


def test_an_endpoint_that_a_live_attempt_has_is_refused_and_waited_for(anna: Account, operator: Api) -> None:
    make_node("node-1", slots=8, addresses=["10.0.0.1"])
    place(make_job(anna, "first", rdzv_endpoint="node-1:29400"))
    held = Attempt.objects.get()
    held.endpoint = "10.0.0.1:29400"
    held.save()
    second = make_job(anna, "second", rdzv_endpoint="10.0.0.1")
    says = f"10.0.0.1:29400 is held by job {held.job_id} first"
    answer = operator.post("/api/jobs", {"script": "/data/train.py", "rdzv_endpoint": "10.0.0.1"})
    assert (answer.status, answer.body["where"], says in answer.body["what"]) == (422, "rdzv_endpoint", True)
    assert not place(second)
    second.refresh_from_db()
    assert says in second.state_reason
    held.ended_at = second.created_at
    held.save()
    assert place(second)


def test_an_endpoint_that_no_attempt_has_yet_told_is_held_too(anna: Account) -> None:
    make_node("node-1", slots=8)
    first = make_job(anna, "first", rdzv_endpoint="node-1")
    second = make_job(anna, "second", rdzv_endpoint="node-1")
    assert place(first)
    assert not place(second)


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        ({"rdzv_endpoint": "::1:29400"}, "rdzv_endpoint", "Write [::1]:29400."),
        ({"rdzv_backend": "etcd-v2"}, "rdzv_backend", "Write etcd-v3"),
        ({"nproc_per_node": 3}, "nproc_per_node", "the largest node, node-1, has 2 slots"),
        ({"rdzv_endpoint": "10.9.9.9:29400"}, "rdzv_endpoint", "no registered node has that name or address"),
        ({"rdzv_endpoint": "node-1:x"}, "rdzv_endpoint", "Write HOST or HOST:PORT"),
        ({"name": "x" * 101}, "name", "longer than 100"),
    ],
)
def test_what_can_never_run_here_is_refused(
    operator: Api, spec: dict[str, Any], field: str, says: str
) -> None:
    make_node("node-1", slots=2)
    answer = operator.post("/api/jobs", {"script": "/data/train.py", **spec})
    assert (answer.status, answer.body["where"]) == (422, field)
    assert says in answer.body["what"]


def test_more_nodes_than_have_joined_may_wait_for_them(operator: Api) -> None:
    make_node("node-1")
    job = operator.post("/api/jobs", {"script": "/data/train.py", "nnodes": "4"}).body
    place_queued()
    reason = operator.get(f"/api/jobs/{job['id']}").body["state_reason"]
    assert reason == "Queued: needs 4 nodes with 1 free slot each; 1 is ready."


def test_nodes_that_were_never_told_to_start_are_not_told_to_stop(anna: Account) -> None:
    make_node("node-1")
    make_node("node-2")
    place(make_job(anna, nnodes="2"))
    attempt = Attempt.objects.get()
    assert stop_others(attempt, "the store host failed") == 1
    assert stop_others(attempt, "the store host failed") == 0
    assert Command.objects.get(kind="stop_runner").node == attempt.store_host
    assert attempt.members.exclude(node=attempt.store_host).get().settled_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_launch_is_queued_even_when_redis_is_down(operator: Api, no_redis: None) -> None:
    assert operator.post("/api/jobs", {"script": "/data/train.py"}).status == 201


@pytest.mark.django_db(transaction=True)
def test_the_start_command_is_in_the_nodes_stream_after_the_commit(anna: Account, bus: redis.Redis) -> None:
    make_node("node-1")
    place(make_job(anna))
    entries: Any = bus.xrange(streams.commands("node-1"))
    assert len(entries) == 1
    assert isinstance(read_command(entries[0][1][b"b"]), StartRunner)
    assert Command.objects.get().state == "sent"


@pytest.mark.django_db(transaction=True)
def test_two_placers_at_once_make_one_attempt(anna: Account, bus: redis.Redis) -> None:
    make_node("node-1", slots=8)
    job = make_job(anna)
    at_once = threading.Barrier(4)

    def place_it() -> bool:
        at_once.wait(10)
        try:
            return place(job)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        placed = [future.result(30) for future in [pool.submit(place_it) for _ in range(4)]]
    assert sorted(placed) == [False, False, False, True]
    assert Attempt.objects.count() == Command.objects.count() == 1
