"""What a node tells of its workers every two seconds, seen as the hub sees it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from agents.bundle import Bundle
from agents.node.workers import NewestRound
from agents.procs import ref_of
from agents.wire import streams
from agents.wire.usage import NodeUsage, WorkerUsage
from tests.agents.node_harness import Agent, Hub, Valkey, start_command
from tests.waiting import wait_until

_usages: TypeAdapter[NodeUsage] = TypeAdapter(NodeUsage)


@pytest.fixture
def attempt(agent: Agent, hub: Hub) -> str:
    command = start_command(agent.name)
    assert hub.carry_out(command)["outcome"] == "done"
    return command.message.attempt


def sample(valkey: Valkey, node: str) -> WorkerUsage | None:
    text = valkey.redis.get(streams.usage(node))
    return _usages.validate_json(str(text)).workers[0] if text else None


def test_a_worker_shows_what_it_uses_and_how_it_stands(
    valkey: Valkey, agent: Agent, hub: Hub, attempt: str
) -> None:
    worker = hub.worker(attempt)
    seen = wait_until(lambda: sample(valkey, agent.name), what="a sample")
    assert (seen.attempt, seen.round, seen.rank) == (attempt, 1, 0)
    assert (seen.pid, seen.start_time, seen.said_s) == (worker.pid, worker.start_time, None)
    # It and the process that it has started.
    assert seen.rss_bytes is not None
    assert seen.rss_bytes > 1_000_000
    wait_until(lambda: (found := sample(valkey, agent.name)) and found.cpu is not None, what="its cores")
    folder = agent.bundle(attempt).rank_folder(1, 0)
    folder.mkdir(parents=True)
    (folder / "report.jsonl").write_text("{}\n")
    os.kill(worker.pid, signal.SIGSTOP)
    stopped = wait_until(lambda: _of_state(sample(valkey, agent.name), "T"), what="the letter T")
    assert stopped.said_s is not None
    assert stopped.wrote_s is None
    assert wait_until(
        lambda: (found := _of_state(sample(valkey, agent.name), "T")) and found.state_s > 1, what="it to last"
    )
    os.kill(worker.pid, signal.SIGKILL)
    gone = wait_until(lambda: _of_state(sample(valkey, agent.name), "", "Z"), what="nobody there")
    assert gone.pid == worker.pid


def _of_state(seen: WorkerUsage | None, *letters: str) -> WorkerUsage | None:
    return seen if seen is not None and seen.state in letters else None


def test_a_sample_expires(valkey: Valkey, agent: Agent, attempt: str) -> None:
    wait_until(lambda: sample(valkey, agent.name), what="a sample")
    left = valkey.redis.pttl(streams.usage(agent.name))
    assert isinstance(left, int)
    assert 0 < left <= 1000 * streams.USAGE_S


def test_a_journal_that_grows_or_is_trimmed_is_read_on(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "a1")
    bundle.folder.mkdir()
    me = ref_of(os.getpid())
    assert me is not None
    bundle.write_process(me)
    newest = NewestRound(bundle)
    assert newest.read() is None
    bundle.journal.write_text('{"seq":1,"kind":"runner_started"}\n' + _started(1))
    assert _number(newest) == 1
    with bundle.journal.open("a") as file:
        file.write('{"kind":"progress"}\n' + _started(2) + _started(3)[:40])
    assert _number(newest) == 2
    with bundle.journal.open("a") as file:
        file.write(_started(3)[40:])
    assert _number(newest) == 3
    aside = bundle.journal.with_name("trimmed")
    aside.write_text(_started(4))
    aside.replace(bundle.journal)
    assert _number(newest) == 4


def _started(number: int) -> str:
    worker = '{"rank":0,"local_rank":0,"pid":7,"start_time":9}'
    return f'{{"seq":{number},"kind":"workers_started","round":{number},"workers":[{worker}]}}\n'


def _number(newest: NewestRound) -> int | None:
    found = newest.read()
    return None if found is None else found.number
