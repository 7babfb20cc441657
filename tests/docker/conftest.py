"""What starts processes here also ends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.node_harness import Valkey
from tests.docker.init_process import InitProcess


@pytest.fixture
def start_init(tmp_path: Path) -> Iterator[Callable[..., InitProcess]]:
    started: list[InitProcess] = []

    def start(agent: str, *arguments: str, around: tuple[str, ...] = (), **settings: str) -> InitProcess:
        started.append(InitProcess(tmp_path, agent, arguments, around, **settings))
        return started[-1]

    yield start
    for init in started:
        init.end_all()


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path)
    yield server
    server.kill()
