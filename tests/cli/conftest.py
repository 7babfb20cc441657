"""The command line as a person has it: a hub that is known by the environment, and a home of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.hub_server import TOKEN, HubServer, serve


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of whoever runs the tests is read or written."""
    for name in ("REGROUP_URL", "REGROUP_TOKEN", "XDG_CONFIG_HOME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[HubServer]:
    with serve(HubServer()) as running:
        monkeypatch.setenv("REGROUP_URL", running.url)
        monkeypatch.setenv("REGROUP_TOKEN", TOKEN)
        yield running
