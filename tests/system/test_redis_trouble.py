"""Redis restarted, emptied, away, full, read-only: training goes on, and nothing is lost or doubled."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.system.evidence import assert_commands_closed, assert_each_record_once
from tests.system.jobs import Json, job, kill, launch_counting, stop, wait_command, wait_job, worker
from tests.system.servers import SentinelServer, Server
from tests.system.stack import Stack, run_stack
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("server"), "a")
    found.start()
    yield found
    found.kill()


@pytest.fixture(scope="module")
def running(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Regroup on a server that is not its own."""
    folder = tmp_path_factory.mktemp("trouble")
    with run_stack(folder, nodes=2, REGROUP_REDIS_URL=server.url) as stack:
        yield stack


@pytest.fixture(scope="module")
def api(running: Stack) -> Iterator[httpx.Client]:
    with running.client("olga", "operator") as client:
        yield client


@pytest.fixture(scope="module")
def trained(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> int:
    """One job that all these troubles hit, one after the other."""
    job_id = launch_counting(api, tmp_path_factory.mktemp("checkpoints"), steps=100_000, max_restarts=50)
    wait_job(api, job_id, "the job to train", state="training", world_size=2)
    return job_id


def step_of(api: httpx.Client, job_id: int) -> int:
    return max(w["step"] or 0 for w in job(api, job_id)["workers"])


def goes_on(api: httpx.Client, job_id: int, before: Json, rounds_more: int = 0) -> None:
    """The hub shows newer steps of the same round, or of that many later, all of them failures."""
    expected = before["round"] + rounds_more
    wait_job(api, job_id, f"round {expected} to train", 60, round=expected, state="training")
    seen_step = step_of(api, job_id)
    wait_until(lambda: step_of(api, job_id) > seen_step, 30, "the step to go on")
    seen = job(api, job_id)
    assert seen["restarts"]["membership"] == before["restarts"]["membership"]
    assert seen["restarts"]["failure"] == before["restarts"]["failure"] + rounds_more


def health(api: httpx.Client) -> Json:
    found: Json = api.get("/api/health").json()
    return found


def wait_health(api: httpx.Client, ok: bool) -> Json:
    wait_until(lambda: health(api)["redis"]["ok"] is ok, 30, f"the health of Redis to be {ok}")
    return health(api)


def kill_worker_by_hand(api: httpx.Client, job_id: int) -> None:
    """From the node's own shell: no way of Regroup's is needed for it."""
    os.kill(worker(job(api, job_id), 1)["pid"], signal.SIGKILL)


def restarted(server: Server) -> None:
    server.kill()
    server.start()


TROUBLES: dict[str, Callable[[Server], None]] = {"restarted": restarted, "emptied": Server.lose_data}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_redis_that_comes_back_at_once_costs_nothing(
    running: Stack, api: httpx.Client, trained: int, server: Server, trouble: str
) -> None:
    before = job(api, trained)
    TROUBLES[trouble](server)
    goes_on(api, trained, before)
    killed = kill(api, job(api, trained), 1)
    assert killed.status_code == 202, killed.text
    assert wait_command(api, killed.json()["id"])["state"] == "done"
    goes_on(api, trained, before, rounds_more=1)
    assert_each_record_once(running)


def test_without_redis_the_job_restarts_and_tells_of_it_later(
    running: Stack, api: httpx.Client, trained: int, server: Server
) -> None:
    before = job(api, trained)
    server.kill()
    assert "does not answer" in wait_health(api, ok=False)["redis"]["says"]
    kill_worker_by_hand(api, trained)
    journal = max(
        (running.data / "nodes" / "node-2" / "bundles").glob("*/journal.jsonl"),
        key=lambda p: p.stat().st_mtime,
    )
    formed = f'"round": {before["round"] + 1}'
    wait_until(lambda: formed in journal.read_text().replace('":', '": '), 60, "the next round to form")
    server.start()
    wait_health(api, ok=True)
    goes_on(api, trained, before, rounds_more=1)
    assert_each_record_once(running)


def test_a_click_while_redis_is_away_is_sent_or_said_not_to_be(
    running: Stack, api: httpx.Client, trained: int, server: Server
) -> None:
    before = job(api, trained)
    server.kill()
    wait_health(api, ok=False)
    killed = kill(api, before, 1)
    assert killed.status_code == 202, killed.text
    assert killed.json()["state"] == "waiting"
    server.start()
    assert wait_command(api, killed.json()["id"], 40)["state"] == "done"
    goes_on(api, trained, before, rounds_more=1)


def test_a_full_redis_is_named_and_everything_arrives_once_there_is_room(
    running: Stack, api: httpx.Client, trained: int, server: Server
) -> None:
    before = job(api, trained)
    server.client.config_set("maxmemory", "1kb")
    assert "full" in wait_health(api, ok=False)["redis"]["says"]
    kill_worker_by_hand(api, trained)
    server.client.config_set("maxmemory", "0")
    wait_health(api, ok=True)
    goes_on(api, trained, before, rounds_more=1)
    assert_each_record_once(running)


def test_a_read_only_replica_is_named_and_left(
    running: Stack, api: httpx.Client, trained: int, server: Server, tmp_path: Path
) -> None:
    before = job(api, trained)
    other = Server(tmp_path, "b")
    other.start()
    try:
        server.follow(other)
        assert "read-only replica" in wait_health(api, ok=False)["redis"]["says"]
        kill_worker_by_hand(api, trained)
    finally:
        server.lead()
        other.kill()
    wait_health(api, ok=True)
    goes_on(api, trained, before, rounds_more=1)
    assert_each_record_once(running)


def test_after_all_that_the_job_is_stopped_and_every_command_closed(
    running: Stack, api: httpx.Client, trained: int
) -> None:
    assert stop(api, trained)["state"] == "stopped"
    assert_commands_closed(running)
    assert_each_record_once(running)


def test_sentinel_leads_everybody_to_the_new_master(tmp_path: Path) -> None:
    first, second, sentinel = Server(tmp_path, "a"), Server(tmp_path, "b"), SentinelServer(tmp_path, "s")
    try:
        first.start()
        second.start()
        second.follow(first)
        sentinel.watch(first)
        wait_until(sentinel.knows_replica, 30, "Sentinel to know the replica")
        url = f"sentinel://127.0.0.1:{sentinel.port}/main/0"
        with (
            run_stack(tmp_path, nodes=2, REGROUP_REDIS_URL=url) as stack,
            stack.client("o", "operator") as api,
        ):
            job_id = launch_counting(api, tmp_path / "checkpoints", steps=100_000)
            before = wait_job(api, job_id, "the job to train", state="training", world_size=2)
            # Once while the old master lives on, which is when connections stay with it; once by its death.
            sentinel.fail_over()
            wait_until(lambda: second.is_master and not first.is_master, 30, "the fail-over")
            killed = kill(api, job(api, job_id), 1)
            assert wait_command(api, killed.json()["id"], 40)["state"] == "done"
            goes_on(api, job_id, before, rounds_more=1)
            second.kill()
            wait_until(lambda: first.is_master, 30, "the first server to lead again")
            goes_on(api, job_id, before, rounds_more=1)
            queued = launch_counting(api, tmp_path / "more", nnodes="1", nodes=None, nproc_per_node=1)
            stop(api, job_id)
            wait_job(api, queued, "another job to be placed by Celery", 60, state="training")
            stop(api, queued)
            assert_each_record_once(stack)
    finally:
        for server in (sentinel, first, second):
            server.kill()
