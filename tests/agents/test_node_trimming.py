"""What a node forgets once the database has it, and what it keeps until then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from agents.journal import read_all
from agents.node.trimming import TRIM_BYTES
from agents.wire.codec import to_json
from agents.wire.commands import KillWorker, LogSlice, StopRunner
from tests.agents.node_harness import Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until


def refused_kill() -> KillWorker:
    """A command that is quick to end, and leaves two records with much to say."""
    return KillWorker(id=new_id(), attempt="never-heard-of", round=1, rank=0, pid=2**22 + 1, start_time=1)


def wait_ended(hub: Hub, commands: list[KillWorker], acknowledge: bool) -> None:
    wanted = {command.id for command in commands}

    def all_ended() -> bool:
        hub.pump(acknowledge)
        return wanted <= {r["command"] for r in hub.records if r["kind"] == "command_ended"}

    wait_until(all_ended, 60, "all commands to end")


def first_seq(agent: Agent) -> int | None:
    return read_all(agent.data / "node.jsonl")[0].seq


def test_the_nodes_journal_is_cut_only_behind_what_the_database_has(agent: Agent, hub: Hub) -> None:
    commands = [refused_kill() for _ in range(250)]
    for command in commands:
        hub.send(command)
    wait_ended(hub, commands, acknowledge=False)
    assert (agent.data / "node.jsonl").stat().st_size > TRIM_BYTES
    assert first_seq(agent) == 1

    hub.pump()
    wait_until(lambda: first_seq(agent) != 1, 30, "the journal to be cut")
    last = read_all(agent.data / "node.jsonl")[-1].seq

    agent.kill()
    agent.start()
    wait_until(lambda: len(hub.found("node_started")) == 2, what="the next daemon")
    again = commands[0]
    hub.send_raw(to_json(again))
    after = refused_kill()
    assert hub.carry_out(after)["outcome"] == "refused"
    counts = Counter(r["command"] for r in hub.records if r["kind"] == "command_ended")
    assert set(counts.values()) == {1}
    assert last is not None
    assert hub.last[hub.records[-1]["source"]] > last


def test_a_bundle_goes_when_it_is_over_and_the_database_has_it(
    valkey: Valkey, start_agent: Callable[..., Agent]
) -> None:
    agent = start_agent(valkey, flags=("--keep-days", "0"))
    hub = Hub(valkey.redis, agent.name)
    running, over = start_command(agent.name), start_command(agent.name)
    assert hub.carry_out(running)["outcome"] == "done"
    assert hub.carry_out(over)["outcome"] == "done"
    stop = StopRunner(id=new_id(), attempt=over.message.attempt, grace_s=10)
    hub.send(stop)
    bundle, keeper = agent.bundle(over.message.attempt), agent.keeper(over.message.attempt)
    wait_until(lambda: bundle.is_settled() and keeper.is_settled(), what="runner and keeper to be settled")
    hub.pump(acknowledge=False)
    assert bundle.folder.exists()
    assert keeper.folder.exists()

    wait_until(lambda: hub.found("runner_settled") and not bundle.folder.exists(), what="the bundle to go")
    left = [agent.bundle(running.message.attempt).folder]
    wait_until(lambda: list((agent.data / "bundles").iterdir()) == left, what="all of it to go")
    left = [agent.keeper(running.message.attempt).folder]
    wait_until(lambda: list((agent.data / "keepers").iterdir()) == left, what="all of the keeper's to go")
    answer = hub.ask(LogSlice(id=new_id(), attempt=over.message.attempt, round=1, rank=0, stream="stdout"))
    assert answer.problem is not None
    assert over.message.attempt in answer.problem
    hub.carry_out(StopRunner(id=new_id(), attempt=running.message.attempt, grace_s=10))
