"""What practice teaches about a spec before it runs: each warning with what to do. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from agents.wire.endpoint import parse_endpoint
from agents.wire.interfaces import VARIABLES
from agents.wire.rdzv import default_port, family, read_rdzv_conf
from agents.wire.spec import JobSpec, parse_nnodes

from .torchrun_schemas import WarningOut
from .words import count, listed

_CHECKPOINT = re.compile(r"check_?point|ckpt|snapshot|resume|save|output|(out|log|run|work)_?dir")
_LOOPBACK = re.compile(r"^(localhost|127\.|::1$|0\.0\.0\.0$)")
_INTERFACES = (*VARIABLES, "TP_SOCKET_IFNAME")


def find_warnings(spec: JobSpec, checkpoint_dir: str | None = None) -> list[WarningOut]:
    found = [warn(spec) for warn in _WARNINGS]
    return [one for one in (*found, _no_checkpoint(spec, checkpoint_dir)) if one is not None]


def _no_failures(spec: JobSpec) -> WarningOut | None:
    if spec.max_restarts > 0:
        return None
    return WarningOut(
        field="max_restarts",
        message="max_restarts is 0, which is torchrun's default: the first failure of a worker ends the job.",
        what_to_do="Write how many failures each node may have, such as 3.",
    )


def _cannot_shrink(spec: JobSpec) -> WarningOut | None:
    low, high = parse_nnodes(spec.nnodes)
    if low != high or high == 1:
        return None
    return WarningOut(
        field="nnodes",
        message=f"nnodes is fixed at {high}: the job cannot shrink, and waits when a node is lost.",
        what_to_do=f"Write a range, such as {high - 1}:{high}, if the script bears another world size.",
    )


def _no_checkpoint(spec: JobSpec, checkpoint_dir: str | None) -> WarningOut | None:
    said = [word.partition("=")[0].lower().replace("-", "_") for word in (*spec.args, *spec.env)]
    if checkpoint_dir or any(_CHECKPOINT.search(word) for word in said):
        return None
    return WarningOut(
        field="args",
        message="No folder for checkpoints is named: without one, a restart begins at step 0.",
        what_to_do="Give the script one that all nodes share; named in checkpoint_dir it is checked.",
    )


def _may_lose_store(spec: JobSpec) -> WarningOut | None:
    """A store on a node of the job goes with that node, and the attempt with the store."""
    low, high = parse_nnodes(spec.nnodes)
    if low == high or family(spec.rdzv_backend) == "etcd":
        return None
    if read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).is_host is False:
        return None
    named = spec.rdzv_endpoint or "the node that keeps the store"
    again = spec.max_relaunches
    then = f"a new one follows, up to {count(again, 'time')}" if again else "max_relaunches is 0"
    return WarningOut(
        field="rdzv_endpoint",
        message=f"{named[0].upper()}{named[1:]} may be lost too; that ends the attempt, and {then}.",
        what_to_do="Use etcd, or an endpoint outside of the job with is_host=false in rdzv_conf.",
    )


def _loopback(spec: JobSpec) -> WarningOut | None:
    if parse_nnodes(spec.nnodes)[1] == 1 or not spec.rdzv_endpoint or family(spec.rdzv_backend) == "etcd":
        return None
    host = parse_endpoint(spec.rdzv_endpoint, default_port(spec.rdzv_backend)).host
    if not _LOOPBACK.match(host):
        return None
    return WarningOut(
        field="rdzv_endpoint",
        message=f"rdzv_endpoint is {spec.rdzv_endpoint}, where nodes reach only themselves.",
        what_to_do="Name a node by an address that the others reach, or leave it empty to let Regroup pick.",
    )


def _lonely_interface(spec: JobSpec) -> WarningOut | None:
    named = {"interface": spec.interface or "", **{name: spec.env.get(name, "") for name in _INTERFACES}}
    lonely = [name for name, value in named.items() if value.lstrip("=").split(",")[0] in ("lo", "lo0")]
    if not lonely or parse_nnodes(spec.nnodes)[1] == 1:
        return None
    return WarningOut(
        field="interface" if lonely[0] == "interface" else "env",
        message=f"{lonely[0]} is lo, over which no other node is reached.",
        what_to_do="Name the interface between the nodes, such as eth0, or leave it out.",
    )


def _named_twice(spec: JobSpec) -> WarningOut | None:
    named = [name for name in VARIABLES if spec.env.get(name)]
    if not named or not spec.interface:
        return None
    return WarningOut(
        field="interface",
        message=f"{listed(named)} in env {'wins' if len(named) == 1 else 'win'} over interface.",
        what_to_do="Leave out one of them.",
    )


def _too_few_devices(spec: JobSpec) -> WarningOut | None:
    shown = [one for one in spec.env.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()]
    if not shown or not isinstance(spec.nproc_per_node, int) or spec.nproc_per_node <= len(shown):
        return None
    return WarningOut(
        field="nproc_per_node",
        message=f"CUDA_VISIBLE_DEVICES shows {count(len(shown), 'GPU')} to {spec.nproc_per_node} workers.",
        what_to_do=f"Write nproc_per_node {len(shown)}, or show a GPU for each worker.",
    )


_WARNINGS: tuple[Callable[[JobSpec], WarningOut | None], ...] = (
    _no_failures,
    _cannot_shrink,
    _may_lose_store,
    _loopback,
    _lonely_interface,
    _named_twice,
    _too_few_devices,
)
