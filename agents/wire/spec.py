"""The job spec in torchrun's own words, and the start message a runner is given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .endpoint import parse_endpoint
from .rdzv import BACKENDS, NOT_V2, ConfError, default_port, family, read_rdzv_conf

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
    standalone: bool = False
    """One node that meets itself on localhost, as ``torchrun --standalone``."""
    rdzv_backend: str = "c10d"
    """``c10d``, ``static``, or ``etcd``, which is ``etcd-v3``."""
    rdzv_endpoint: str = ""
    """``HOST[:PORT]``, of etcd several with commas. Empty: Regroup picks node and port for each attempt."""
    rdzv_conf: dict[str, str] = field(default_factory=dict)
    script: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    workdir: str | None = None
    python: str | None = None
    """The job's interpreter. None: the node agent's default."""
    start: str = "preload"
    """``preload``: workers fork from a process that has imported ``preload``. ``exec``: each starts anew."""
    preload: tuple[str, ...] = ("torch", "torch.distributed")
    monitor_interval: float = 0.1
    shutdown_timeout: float = 30.0
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
    _check_rendezvous(spec)
    _check_start(spec)
    if spec.shutdown_timeout <= 0:
        raise SpecError(
            "shutdown_timeout",
            f"shutdown_timeout is {spec.shutdown_timeout}. Write the seconds to wait, above 0.",
        )
    if spec.monitor_interval <= 0:
        raise SpecError(
            "monitor_interval",
            f"monitor_interval is {spec.monitor_interval}. Write the seconds between looks, above 0.",
        )


def _check_rendezvous(spec: JobSpec) -> None:
    if spec.rdzv_backend == "etcd-v2":
        raise SpecError("rdzv_backend", NOT_V2)
    if spec.rdzv_backend not in BACKENDS:
        raise SpecError(
            "rdzv_backend", f"rdzv_backend is {spec.rdzv_backend!r}. Write one of {', '.join(BACKENDS)}."
        )
    try:
        read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend)
    except ConfError as error:
        raise SpecError("rdzv_conf", str(error)) from error
    _check_endpoint(spec)
    _check_fixed(spec)


def _check_endpoint(spec: JobSpec) -> None:
    try:
        read_endpoints(spec)
    except ValueError as error:
        raise SpecError("rdzv_endpoint", f"rdzv_endpoint: {error}") from error
    if spec.rdzv_endpoint:
        return
    if family(spec.rdzv_backend) == "etcd":
        raise SpecError(
            "rdzv_endpoint",
            "etcd is a server of yours, so rdzv_endpoint has to name it. Write HOST or HOST:PORT, "
            "and several with commas between them.",
        )
    if read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).is_host is False:
        raise SpecError(
            "rdzv_endpoint",
            "rdzv_conf has is_host=false, so nobody of the job hosts the store. Name in rdzv_endpoint "
            "who does.",
        )


def read_endpoints(spec: JobSpec) -> tuple[str, ...]:
    """``rdzv_endpoint`` with its ports; several only with etcd. Empty where it is left out.

    Raises:
        ValueError: saying what to write instead.
    """
    texts = [text for text in spec.rdzv_endpoint.split(",") if text.strip()] if spec.rdzv_endpoint else []
    if len(texts) > 1 and family(spec.rdzv_backend) != "etcd":
        raise ValueError(f"{spec.rdzv_endpoint!r} names several, and {spec.rdzv_backend} has one. Write one.")
    return tuple(str(parse_endpoint(text, default_port(spec.rdzv_backend))) for text in texts)


def _check_fixed(spec: JobSpec) -> None:
    """What leaves no room for a range of nodes, or for a place to meet."""
    low, high = parse_nnodes(spec.nnodes)
    if spec.rdzv_backend == "static" and low != high:
        raise SpecError(
            "nnodes",
            f"nnodes is {spec.nnodes!r}, and static has a fixed number of nodes. Write {high}, or use c10d.",
        )
    if not spec.standalone:
        return
    if high != 1:
        raise SpecError("nnodes", f"nnodes is {spec.nnodes!r}, and standalone is one node. Write 1.")
    if spec.rdzv_endpoint or spec.rdzv_backend != "c10d":
        raise SpecError(
            "standalone",
            "standalone meets itself over c10d on localhost. Leave out rdzv_endpoint and rdzv_backend, or "
            "standalone.",
        )


def _check_start(spec: JobSpec) -> None:
    if spec.start not in ("preload", "exec"):
        raise SpecError("start", f"start is {spec.start!r}. Write preload or exec.")
    for name in spec.preload:
        if not all(part.isidentifier() for part in name.split(".")):
            raise SpecError("preload", f"preload has {name!r}. Write names of Python modules, such as torch.")


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
