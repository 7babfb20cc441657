"""torchrun's flags beside the rendezvous: what each may say, and those that Regroup refuses. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SIGNALS = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
"""torchrun's own for ``signals_to_handle``."""
NPROC_WORDS = ("auto", "gpu", "cpu")
"""What ``nproc_per_node`` may be beside a number."""

REFUSED = {
    "rdzv_id": "Each attempt gets an id of its own, since an id that was closed stays closed. Leave it out.",
    "node_rank": (
        "It would differ by node, and a job has one spec for all of them. Group ranks follow the order of "
        "the nodes' names, and the page shows which node has which. Leave it out."
    ),
    "master_addr": "Regroup picks the node that keeps the store. To name one, write rdzv_endpoint HOST:PORT.",
    "master_port": "Regroup picks a free port. To name one, write rdzv_endpoint HOST:PORT.",
    "local_addr": (
        "It differs by node. Give it to the node itself, as regroup-agent --address, and leave it out here."
    ),
    "log_dir": (
        "Stdout and stderr of each rank are kept on its node, by attempt and round, and shown on the page. "
        "Leave it out."
    ),
    "logs_specs": "Where logs go is Regroup's own, so that the page finds them. Leave it out.",
    "run_path": (
        "It saves the start of an interpreter. start: preload does that for every script, and leaves it its "
        "own __main__, exit handlers and tracebacks. Leave it out."
    ),
}
"""Flags that a job cannot have, each with the reason and what to do."""


@dataclass(frozen=True)
class Rule:
    """What a field may be. ``advice`` is said after the value that was refused."""

    allows: Callable[[Any], bool]
    advice: str


_STD = re.compile(r"^([0123]|\d:[0123](,\d:[0123])*)$")
_RANKS = re.compile(r"^\s*\d+\s*(,\s*\d+\s*)*$")
_HANDLED = frozenset({*SIGNALS.split(","), "SIGUSR1", "SIGUSR2"})


def _one_of(*words: str | None) -> Callable[[Any], bool]:
    return lambda value: value in words


def _is_nproc(value: Any) -> bool:
    return value in NPROC_WORDS if isinstance(value, str) else value >= 1


def _has_filters(values: Any) -> bool:
    return all(values)


_STD_ADVICE = (
    "Write 0 for none, 1 for stdout, 2 for stderr or 3 for both, or one for each local rank, such as 0:3,1:2."
)
LEAST_LOG_BYTES = 1 << 20
_FILTERS = Rule(_has_filters, "Write texts to look for; an empty one would be in every line.")

RULES: dict[str, Rule] = {
    "nproc_per_node": Rule(
        _is_nproc,
        "At least one worker per node is needed: write a number, or auto, gpu or cpu for one on each device.",
    ),
    "monitor_interval": Rule(lambda value: value > 0, "Write the seconds between looks, above 0."),
    "shutdown_timeout": Rule(lambda value: value >= 0, "Write the seconds to wait, 0 or more."),
    "exit_barrier_timeout": Rule(
        lambda value: value is None or value >= 0,
        "Write the seconds to wait, 0 or more, or leave it out to wait as long as the others run.",
    ),
    "start_method": Rule(_one_of("spawn", "fork", "forkserver"), "Write spawn, fork or forkserver."),
    "event_log_handler": Rule(
        _one_of("null", "console", "dynamic_rendezvous"), "Write null, console or dynamic_rendezvous."
    ),
    "role": Rule(lambda value: value.isprintable(), "Write a word, such as trainer."),
    "redirects": Rule(lambda value: bool(_STD.match(value)), _STD_ADVICE),
    "tee": Rule(lambda value: bool(_STD.match(value)), _STD_ADVICE),
    "local_ranks_filter": Rule(
        lambda value: not value or bool(_RANKS.match(value)), "Write local ranks, such as 0,1,2."
    ),
    "duplicate_stdout_filters": _FILTERS,
    "duplicate_stderr_filters": _FILTERS,
    "log_max_bytes": Rule(
        lambda value: value >= LEAST_LOG_BYTES,
        f"Write how many bytes of each stream are kept, at least {LEAST_LOG_BYTES} (1 MiB).",
    ),
    "signals_to_handle": Rule(
        lambda value: {name.strip() for name in value.split(",")} <= _HANDLED,
        "A runner stops in order at SIGTERM, SIGINT and SIGQUIT, trains on at SIGHUP, and hands SIGUSR1 and "
        "SIGUSR2 to the workers. Write some of these, with commas between them.",
    ),
    "numa_binding": Rule(
        _one_of(None, "node", "socket", "exclusive", "core-complex"),
        "Write node, socket, exclusive or core-complex, or leave it out.",
    ),
}


def read_ranks(text: str) -> set[int] | None:
    """``local_ranks_filter``. None: it leaves nobody out."""
    return {int(part) for part in text.split(",")} if text.strip() else None
