"""Runners that meet in etcd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.agents.runner_harness import MINIMAL, Attempt, Runner, attempt_in

LONG = ("--steps", "100000", "--pace", "0.05")
SHORT = ("--steps", "10", "--pace", "0.02")


def attempt_over(endpoint: str, folder: Path, **spec: Any) -> Attempt:
    """One worker on each of two nodes, unless the spec says otherwise."""
    fields: dict[str, Any] = {"nnodes": "2", "nproc_per_node": 1, "rdzv_backend": "etcd"}
    fields |= {"script": MINIMAL, "args": LONG}
    return Attempt(folder, **{**fields, "rdzv_endpoint": endpoint, **spec})


def start(attempt: Attempt, *nodes: str, **changes: Any) -> list[Runner]:
    return attempt.start(*nodes, endpoint=attempt.spec.rdzv_endpoint, hosts_store=False, **changes)


def path_of(folder: Path) -> str:
    """Where the keys of the attempt in that folder are."""
    return f"/torch/elastic/{attempt_in(folder)}/"
