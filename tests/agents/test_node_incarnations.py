"""Several runners of one node in one attempt, one after the other: each is told from those before it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents import procs
from agents.bundle import Bundle, bundle_of
from agents.node.config import Config
from agents.node.journal import NodeJournal
from agents.node.ledger import Ledger
from agents.node.outcome import Refused
from agents.node.supervisor import Supervisor
from agents.node.trimming import Trimming
from agents.wire.codec import to_json
from agents.wire.commands import KillWorker, LogSlice, StartRunner, StopRunner
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.waiting import wait_until


def first_command(node: str, *args: str, nproc: int = 1) -> StartRunner:
    """Another node keeps the store."""
    command = start_command(node, *args)
    message = replace(
        command.message, hosts_store=False, endpoint="127.0.0.1:1", nodes=(node, "another-node"), nproc=nproc
    )
    return replace(command, message=message)


def kill(agent: Agent, hub: Hub, attempt: str, incarnation: int = 1) -> None:
    """The runner, and wait until nothing of it is left."""
    runner = agent.bundle(attempt, incarnation).process()
    assert runner is not None
    procs.send_signal(runner, signal.SIGKILL)
    hub.wait_for("runner_settled", attempt=attempt, incarnation=incarnation)


def start_twice(agent: Agent, hub: Hub, *args: str) -> StartRunner:
    """A runner that died and one in its place, with its worker; the second one's command."""
    first = first_command(agent.name, *args)
    assert hub.carry_out(first)["outcome"] == "done"
    hub.worker(first.message.attempt)
    kill(agent, hub, first.message.attempt)
    second = incarnate(first, 2)
    ended = hub.carry_out(second)
    assert ended["outcome"] == "done", ended
    hub.worker(first.message.attempt, 2)
    return second


def test_a_runner_that_died_is_started_again_with_a_journal_of_its_own(agent: Agent, hub: Hub) -> None:
    attempt = start_twice(agent, hub).message.attempt
    sources = {f"run/{attempt}/{agent.name}/{number}" for number in (1, 2)}
    assert sources <= hub.last.keys()
    started = hub.found("runner_started", attempt=attempt)
    assert [(record["seq"], record["source"]) for record in started] == [(1, one) for one in sorted(sources)]
    assert [record["incarnation"] for record in hub.found("runner_settled", attempt=attempt)] == [1]
    hub.wait_free(1)
    assert hub.lease()["attempts"] == [attempt]
    ended = hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=20))
    assert ended["evidence"]["pid"] == started[1]["pid"]
    hub.wait_for("runner_settled", attempt=attempt, incarnation=2)
    hub.wait_free(2)


def test_the_same_start_finds_its_runner_and_an_earlier_one_is_refused(agent: Agent, hub: Hub) -> None:
    second = start_twice(agent, hub)
    pid = agent.bundle(second.message.attempt, 2).process()
    again = hub.carry_out(replace(second, id=new_id()))
    assert pid is not None
    assert again["evidence"]["pid"] == pid.pid
    ended = hub.carry_out(incarnate(second, 1))
    assert ended["outcome"] == "refused"
    assert ended["reason"] == (
        f"{agent.name} has been given a later runner of attempt {second.message.attempt}; "
        "this one is not started."
    )
    assert procs.is_alive(pid)


def test_one_that_has_ended_is_not_started_once_more(agent: Agent, hub: Hub) -> None:
    second = start_twice(agent, hub)
    attempt = second.message.attempt
    kill(agent, hub, attempt, 2)
    ended = hub.carry_out(replace(second, id=new_id()))
    assert ended["outcome"] == "refused"
    assert ended["reason"] == f"Runner 2 of attempt {attempt} has already ended on {agent.name}."
    assert hub.carry_out(incarnate(second, 3))["outcome"] == "done"


def test_what_is_left_of_an_earlier_runner_is_ended_before_the_next_is_started(
    agent: Agent, hub: Hub
) -> None:
    first = first_command(agent.name, "deaf", nproc=2)
    hub.carry_out(first)
    attempt = first.message.attempt
    worker = hub.worker(attempt)
    hub.wait_free(0)
    stale = procs.find_marked(agent.bundle(attempt).mark)
    ended = hub.carry_out(incarnate(first, 2, nproc=1))
    assert ended["outcome"] == "done", ended
    assert not [ref for ref in [worker, *stale] if procs.is_alive(ref)]
    settled = hub.wait_for("runner_settled", attempt=attempt)
    assert settled["incarnation"] == 1
    second = hub.wait_for("runner_started", attempt=attempt, source=f"run/{attempt}/{agent.name}/2")
    assert hub.found("runner_finished", attempt=attempt)[0]["at"] <= second["at"]
    hub.wait_free(1)


def test_without_room_for_the_next_the_earlier_one_is_left_alone(agent: Agent, hub: Hub) -> None:
    first = first_command(agent.name)
    hub.carry_out(first)
    worker = hub.worker(first.message.attempt)
    ended = hub.carry_out(incarnate(first, 2, nproc=3))
    assert ended["outcome"] == "refused"
    assert "2 of 2 slots free, and the job needs 3" in ended["reason"]
    assert procs.is_alive(worker)


def test_the_next_agent_adopts_the_one_that_runs_and_tells_which_it_is(agent: Agent, hub: Hub) -> None:
    attempt = start_twice(agent, hub).message.attempt
    agent.kill()
    agent.start()
    assert hub.wait_for("runner_adopted", attempt=attempt)["incarnation"] == 2
    hub.wait_free(1)
    kill(agent, hub, attempt, 2)
    assert [r["incarnation"] for r in hub.found("runner_settled", attempt=attempt)] == [1, 2]
    assert len(hub.found("runner_adopted", attempt=attempt)) == 1


def test_an_agent_killed_before_it_ended_the_earlier_one_does_so_when_it_is_back(
    agent: Agent, hub: Hub
) -> None:
    first = first_command(agent.name)
    hub.carry_out(first)
    worker = hub.worker(first.message.attempt)
    agent.kill()
    second = incarnate(first, 2)
    Ledger(agent.data).begin(second.id, to_json(second))
    agent.start()
    ended = hub.wait_for("command_ended", command=second.id)
    assert ended["outcome"] == "done", ended
    assert not procs.is_alive(worker)
    assert hub.worker(first.message.attempt, 2)


def test_logs_are_read_from_the_runner_that_had_the_round(agent: Agent, hub: Hub) -> None:
    attempt = start_twice(agent, hub).message.attempt
    for number in (1, 2):
        log = agent.bundle(attempt, number).log(number, 0, "stdout")
        log.parent.mkdir(parents=True)
        log.write_text(f"said in round {number}\n")
    for number in (1, 2):
        request = LogSlice(id=new_id(), attempt=attempt, round=number, rank=0, stream="stdout")
        assert [line.text for line in hub.ask(request).lines] == [f"said in round {number}"]
    answer = hub.ask(LogSlice(id=new_id(), attempt=attempt, round=3, rank=0, stream="stdout"))
    assert answer.problem == f"No worker of round 3 has run on {agent.name}."


def test_a_worker_of_the_later_runner_is_killed_by_its_button(agent: Agent, hub: Hub) -> None:
    attempt = start_twice(agent, hub).message.attempt
    worker = hub.worker(attempt, 2)
    kill_it = KillWorker(
        id=new_id(), attempt=attempt, round=2, rank=0, pid=worker.pid, start_time=worker.start_time
    )
    assert hub.carry_out(kill_it)["outcome"] == "done"
    assert not procs.is_alive(worker)


def test_a_store_that_has_gone_is_not_opened_for_a_later_runner(agent: Agent, hub: Hub) -> None:
    ended = hub.carry_out(incarnate(start_command(agent.name), 2))
    assert ended["outcome"] == "refused"
    assert "only a new attempt gets a new one" in ended["reason"]


def test_one_that_cannot_be_ended_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.node.supervisor.KILLED_S", 0.1)
    command = first_command("node-a")
    config = Config(
        redis_url="redis://h:1", name="node-a", data=tmp_path, slots=2, address=None, python=sys.executable
    )
    supervisor = Supervisor(config, 2, NodeJournal(tmp_path, "node-a"), lambda _bundle: None)
    stale = bundle_of(Bundle, tmp_path, command.message.attempt)
    stale.create(command.message)
    # Nobody settles it here, which is how one looks whose processes do not end.
    stale.write_process(procs.ProcessRef(2**22 + 1, 1, procs.boot_id()))
    supervisor.adopt_all()
    with pytest.raises(Refused, match="is still there on node-a"):
        supervisor.start(incarnate(command, 2).message, sys.executable)
    assert not bundle_of(Bundle, tmp_path, command.message.attempt, 2).folder.exists()


def test_what_earlier_runners_left_stays_as_long_as_the_last_one(tmp_path: Path) -> None:
    message = first_command("node-a").message
    bundles = [bundle_of(Bundle, tmp_path, message.attempt, number) for number in (1, 2)]
    for bundle in bundles:
        bundle.create(message)
    trimming = Trimming(tmp_path, 1 / 24, NodeJournal(tmp_path, "node-a"), Ledger(tmp_path))
    settle_hours_ago(bundles[0], 30)
    trimming.prune_bundles()
    settle_hours_ago(bundles[1], 0)
    trimming.prune_bundles()
    assert [bundle.folder.exists() for bundle in bundles] == [True, True]
    settle_hours_ago(bundles[1], 2)
    trimming.prune_bundles()
    assert [bundle.folder.exists() for bundle in bundles] == [False, False]


def settle_hours_ago(bundle: Bundle, hours: float) -> None:
    bundle.write_settled(last_seq=0)
    then = time.time() - hours * 3600
    os.utime(bundle.folder / "settled.json", (then, then))


def test_the_record_of_each_end_stays_until_the_next_agent_would_not_write_it_again(tmp_path: Path) -> None:
    """The second runner's bundle is settled; the first one's is not, so only its record has to stay."""
    message = first_command("node-a").message
    bundles = [bundle_of(Bundle, tmp_path, message.attempt, number) for number in (1, 2)]
    for bundle in bundles:
        bundle.create(message)
    bundles[1].write_settled(last_seq=0)
    trimming = Trimming(tmp_path, 14, NodeJournal(tmp_path, "node-a"), Ledger(tmp_path))
    records = [{"kind": "runner_settled", "attempt": message.attempt, "incarnation": n} for n in (1, 2)]
    assert [trimming.may_go(record) for record in records] == [False, True]


@pytest.fixture
def real(valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    """With real runners, keepers and torch."""
    return start_agent(valkey, entry=QUICK)


def test_a_real_runner_that_was_killed_is_followed_by_one_in_the_same_store(
    valkey: Valkey, real: Agent, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, real.name)
    script = tmp_path / "train.py"
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    first = start_command(real.name, script=str(script), max_restarts=3)
    attempt = first.message.attempt
    endpoint = hub.carry_out(first)["evidence"]["endpoint"]
    worker = hub.worker(attempt)
    kill(real, hub, attempt)
    assert not procs.is_alive(worker)
    ended = hub.carry_out(incarnate(first, 2))
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["endpoint"] == endpoint
    source = f"run/{attempt}/{real.name}/2"
    up = hub.wait_for("workers_started", source=source)
    assert up["round"] == 2
    log = real.bundle(attempt, 2).log(2, 0, "stdout")
    wait_until(lambda: log.exists() and "up" in log.read_text(), 60, "the worker to speak")
    assert len(hub.found("keeper_started", attempt=attempt)) == 1
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=10))["outcome"] == "done"
    assert hub.wait_for("runner_finished", source=source)["outcome"] == "stopped"
