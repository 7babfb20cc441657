"""What the person who starts the local stack may choose, and where its files lie."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..listening import CannotListen, bracketed, is_loopback, reached_at, resolve

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the repository: programs run here, so that relative names in it hold."""


class CannotStart(Exception):
    """The stack cannot run here. The text is one sentence for the person at the terminal."""


@dataclass(frozen=True)
class StackOptions:
    data: Path
    """Absolute. Holds the database, Valkey's files, the nodes' bundles, logs and secrets."""
    address: str = "127.0.0.1"
    """Where web and Valkey listen."""
    port: int = 8000
    nodes: int = 3
    slots: int = 2
    """Worker processes that each node may run at once."""
    redis_url: str | None = None
    """None: a Valkey server of the stack's own."""
    python: str = sys.executable

    @property
    def run(self) -> Path:
        """What only matters while the stack runs."""
        return self.data / "run"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def takes_other_machines(self) -> bool:
        return not is_loopback(self.address)

    @property
    def reached_at(self) -> str:
        """The address that browsers and node agents use, those on other machines too."""
        return reached_at(self.address)

    @property
    def url(self) -> str:
        return f"http://{bracketed(self.reached_at)}:{self.port}"

    @property
    def node_names(self) -> list[str]:
        return [f"node-{number}" for number in range(1, self.nodes + 1)]

    def log_of(self, program: str) -> Path:
        return self.logs / f"{program}.log"


def _number(name: str, low: int, high: int, text: str) -> int:
    if text.isdecimal() and low <= int(text) <= high:
        return int(text)
    raise CannotStart(f"{name} is {text!r}; it must be a whole number from {low} to {high}.")


def _address(host: str) -> str:
    try:
        return resolve(host)
    except CannotListen as problem:
        raise CannotStart(str(problem)) from problem


def read_options(arguments: Sequence[str], redis_url: str | None) -> StackOptions:
    """Options from the command line.

    Raises:
        CannotStart: a value makes no sense.
    """
    parser = argparse.ArgumentParser(prog="python -m webapp.stack", description=__doc__)
    parser.add_argument("--data", default="data", help="the data folder (default: ./data)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; 0.0.0.0: on all addresses")
    parser.add_argument("--port", default="8000", help="port of the web page (default: 8000)")
    parser.add_argument("--nodes", default="3", help="how many local node agents (default: 3)")
    parser.add_argument("--slots", default="2", help="worker slots of each node (default: 2)")
    given = parser.parse_args(arguments)
    return StackOptions(
        data=Path(given.data).expanduser().resolve(),
        address=_address(given.host),
        port=_number("PORT", 1, 65535, given.port),
        nodes=_number("NODES", 0, 64, given.nodes),
        slots=_number("SLOTS", 1, 256, given.slots),
        redis_url=redis_url or None,
    )
