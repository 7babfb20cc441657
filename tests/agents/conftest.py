"""What the tests of the node agent share: a server for the run, and a fresh agent and hub for each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.node_harness import Agent, Hub, Valkey, new_id
from tests.agents.warm_start import COLD


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's own settings, in the environment of whoever runs the tests, are not the node's."""
    for name in [name for name in os.environ if name.startswith("REGROUP_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def cold(nothing_set: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners and store keepers are started anew, as where a node has no warm process."""
    monkeypatch.setenv(COLD, "runner keeper")


@pytest.fixture
def cold_runners(nothing_set: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runners alone: their fork servers begin with them, so that the first workers come from there."""
    monkeypatch.setenv(COLD, "runner")


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    server = Valkey(tmp_path_factory.mktemp("valkey"))
    yield server
    server.kill()


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[Valkey]:
    """For a test that kills or empties it."""
    server = Valkey(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def start_agent(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Starts node agents, and ends them and all they started after the test."""
    agents: list[Agent] = []

    def start(server: Valkey, **options: object) -> Agent:
        name = f"node-{new_id()}"
        agents.append(Agent(server.url, name, tmp_path / name, **options))  # type: ignore[arg-type]
        return agents[-1]

    yield start
    for agent in agents:
        agent.end_all()


@pytest.fixture
def agent(valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    return start_agent(valkey)


@pytest.fixture
def hub(valkey: Valkey, agent: Agent) -> Hub:
    return Hub(valkey.redis, agent.name)
