"""Secrets from a launch to a runner, between the hub and a real node agent: open in one environment alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
from django.db import connection
from django.utils import timezone

from agents.wire import streams
from tests.agents.node_harness import Agent
from tests.waiting import wait_until
from tests.webapp.api_client import Api
from webapp.fleet.models import Command, Node
from webapp.ingest.batch import take_batch
from webapp.ingest.reader import Reader
from webapp.jobs.tasks import place_queued

pytestmark = pytest.mark.django_db(transaction=True)

WORD = "s3cr3t-0815"
SECRETS = {"TEAM_WORD": f"{WORD}-marked", "API_TOKEN": f"{WORD}-named", "DB": f"postgres://u:{WORD}@h/x"}


@pytest.fixture
def agent(bus: redis.Redis, valkey_server: str, tmp_path: Path) -> Iterator[Agent]:
    """With stand-ins for runner and store keeper."""
    running = Agent(valkey_server, "node-1", tmp_path / "node-1")
    yield running
    running.end_all()


def files_of(agent: Agent) -> list[Path]:
    found = [*agent.data.rglob("*"), agent.log]
    if connection.vendor == "sqlite":
        database = Path(connection.settings_dict["NAME"])
        found += [path for path in database.parent.iterdir() if path.name.startswith(database.name)]
    return [path for path in found if path.is_file()]


def test_a_runner_has_what_was_launched_and_no_file_or_stream_does(
    operator: Api, agent: Agent, bus: redis.Redis, script: str
) -> None:
    reader = Reader(bus)

    def ingest() -> None:
        reader.find_nodes()
        if reader.has_nodes:
            reader.acknowledge(take_batch(reader.read(50)))

    def is_known() -> bool:
        ingest()
        return Node.objects.filter(name="node-1").exists()

    def is_closed() -> bool:
        ingest()
        return Command.objects.exclude(ended_at=None).exists()

    wait_until(is_known, 30, "the node agent to register")
    Node.objects.update(last_heard_at=timezone.now() + timedelta(minutes=10))
    spec = {"script": script, "env": SECRETS, "secret_env": ["TEAM_WORD"]}
    assert operator.post("/api/jobs", spec).status == 201
    assert place_queued() == 1
    sent: Any = bus.xrange(streams.commands("node-1"))
    wait_until(is_closed, 30, "the runner to be started")
    command = Command.objects.get()
    assert command.state == "done", command.reason
    runner = psutil.Process(command.evidence["pid"])
    assert {name: runner.environ()[name] for name in SECRETS} == SECRETS
    assert WORD not in " ".join(runner.cmdline())
    assert len(files_of(agent)) > 10
    assert [str(path) for path in files_of(agent) if WORD.encode() in path.read_bytes()] == []
    assert "sealed" in repr(sent)
    assert WORD not in repr(sent)
