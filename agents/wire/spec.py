"""The job spec in torchrun's own words, and the start message a runner is given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NNODES = re.compile(r"^(\d+)(?::(\d+))?$")


class SpecError(ValueError):
    """A spec that cannot run. ``where`` names the field, the text says what to write instead."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """What the operator launched. Field names and defaults are torchrun's."""

    nnodes: str = "1"
    nodes: int | None = None
    """Nodes wanted now, within ``nnodes``. None: as many as are free, up to the maximum."""
    nproc_per_node: int = 1
    max_restarts: int = 0
    """Failure restarts each node may spend in one attempt."""
    rdzv_backend: str = "c10d"
    rdzv_endpoint: str = ""
    """``HOST[:PORT]``. Empty: Regroup picks a node and a free port for each attempt."""
    rdzv_conf: dict[str, str] = field(default_factory=dict)
    script: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    workdir: str | None = None
    python: str | None = None
    """The job's interpreter. None: the node agent's default."""
    start: str = "exec"
    monitor_interval_s: float = 0.1
    grace_s: float = 30.0
    """Seconds between SIGTERM and SIGKILL when workers are asked to stop."""


def parse_nnodes(text: str) -> tuple[int, int]:
    """Read ``"2"`` or ``"1:4"`` as (min_nodes, max_nodes).

    Raises:
        SpecError: the text is not ``N`` or ``MIN:MAX`` with 1 <= MIN <= MAX.
    """
    match = _NNODES.match(text.strip())
    if match is None:
        raise SpecError(
            "nnodes",
            f"nnodes is {text!r}. Write a number of nodes, such as 2, or a range MIN:MAX, such as 1:4.",
        )
    low = int(match[1])
    high = int(match[2]) if match[2] else low
    if low < 1:
        raise SpecError("nnodes", f"nnodes is {text!r}. At least one node is needed: write 1 or more.")
    if high < low:
        raise SpecError(
            "nnodes",
            f"nnodes is {text!r}: the minimum {low} is above the maximum {high}. Write {high}:{low}.",
        )
    return low, high


def check_spec(spec: JobSpec) -> None:
    """Refuse a spec that can never run, whatever nodes there are.

    Raises:
        SpecError: naming the first field that is wrong.
    """
    low, high = parse_nnodes(spec.nnodes)
    if spec.nodes is not None and not low <= spec.nodes <= high:
        raise SpecError(
            "nodes",
            f"nodes is {spec.nodes}, outside nnodes {spec.nnodes}. Ask for {low} to {high} nodes.",
        )
    if spec.nproc_per_node < 1:
        raise SpecError(
            "nproc_per_node",
            f"nproc_per_node is {spec.nproc_per_node}. At least one worker per node is needed.",
        )
    if spec.max_restarts < 0:
        raise SpecError("max_restarts", f"max_restarts is {spec.max_restarts}. Write 0 or more.")
    if bool(spec.script) == bool(spec.module):
        raise SpecError("script", "Give either a script or a module to run, not both and not neither.")
    if spec.script and not spec.script.startswith("/") and not spec.workdir:
        raise SpecError(
            "script",
            f"script is {spec.script!r}, a relative path, and no workdir is given. "
            "Write an absolute path as it is on the nodes, or give a workdir.",
        )
    if spec.rdzv_backend != "c10d":
        raise SpecError(
            "rdzv_backend",
            f"rdzv_backend is {spec.rdzv_backend!r}. This version runs c10d.",
        )
    read_rdzv_conf(spec.rdzv_conf)
    if spec.start != "exec":
        raise SpecError("start", f"start is {spec.start!r}. This version starts workers with exec.")
    if spec.grace_s <= 0:
        raise SpecError("grace_s", f"grace_s is {spec.grace_s}. Write the seconds to wait, above 0.")
    if spec.monitor_interval_s <= 0:
        raise SpecError(
            "monitor_interval_s",
            f"monitor_interval_s is {spec.monitor_interval_s}. Write the seconds between looks, above 0.",
        )


@dataclass(frozen=True, kw_only=True)
class RdzvConf:
    """``rdzv_conf`` read: the keys that torch's c10d rendezvous knows. Times in whole seconds."""

    join_timeout: int = 600
    """How long a node waits for a round to form, the store to be reached included."""
    last_call_timeout: int = 30
    """How long a round with enough nodes waits for assigned ones that are missing."""
    close_timeout: int = 30
    heartbeat_timeout: int = 5
    keep_alive_interval: int = 1
    keep_alive_max_attempt: int = 3
    read_timeout: int = 20
    """How long an answer from the store, or from another node in a round, may take."""
    is_host: bool | None = None
    """False: nobody of the job hosts the store; it is at ``rdzv_endpoint`` already."""
    store_type: str = "tcp"


_BOOLEANS = {
    **dict.fromkeys(("1", "true", "t", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n"), False),
}


def _rdzv_value(key: str, text: str) -> int | bool | str:
    if key == "store_type":
        if text.strip().lower() == "tcp":
            return "tcp"
        raise SpecError("rdzv_conf", f"rdzv_conf has store_type={text}. This version runs tcp.")
    if key == "is_host":
        if text.strip().lower() in _BOOLEANS:
            return _BOOLEANS[text.strip().lower()]
        raise SpecError("rdzv_conf", f"rdzv_conf has is_host={text}. Write true or false.")
    if text.strip().isdigit() and int(text) > 0:
        return int(text)
    raise SpecError("rdzv_conf", f"rdzv_conf has {key}={text}. Write whole seconds or times, 1 or more.")


def read_rdzv_conf(conf: dict[str, str]) -> RdzvConf:
    """Raises ``SpecError`` naming the key that is not known or whose value cannot be."""
    known = tuple(RdzvConf.__dataclass_fields__)
    for key in conf:
        if key == "timeout":
            raise SpecError("rdzv_conf", "rdzv_conf has timeout, which c10d ignores. Write join_timeout.")
        if key not in known:
            raise SpecError("rdzv_conf", f"rdzv_conf has {key!r}, which is not one of {', '.join(known)}.")
    return RdzvConf(**{key: _rdzv_value(key, str(text)) for key, text in conf.items()})  # type: ignore[arg-type]


def slots_needed(spec: JobSpec) -> int:
    """Worker slots that one node of this job occupies."""
    return spec.nproc_per_node


@dataclass(frozen=True, kw_only=True)
class StartMessage:
    """Everything a runner needs: one message, written into its bundle before it starts."""

    version: int = 1
    attempt: str
    """Also the rendezvous id: generated, unique for ever."""
    job: int
    job_name: str
    number: int
    """1 for the first attempt of the job."""
    node: str
    nodes: tuple[str, ...]
    """All nodes assigned to the attempt. A round closes as soon as they have all joined."""
    min_nodes: int
    max_nodes: int
    endpoint: str
    """``HOST:PORT`` of the c10d store. Port 0 with ``hosts_store``: the node agent picks a free port."""
    hosts_store: bool
    local_addr: str
    """The address under which the other nodes reach this one."""
    spent: int = 0
    """Failure restarts this node has already spent in this attempt."""
    spec: JobSpec
