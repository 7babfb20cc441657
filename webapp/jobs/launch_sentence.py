"""What a spec means, in one sentence: nodes, ranks, losses and failures that it survives. Pure."""

from __future__ import annotations

from agents.wire.spec import JobSpec, parse_nnodes
from agents.wire.time_limit import read_time_limit

from .words import count, span

_EACH = {
    "gpu": "a worker for each GPU",
    "cpu": "a worker for each CPU",
    "auto": "a worker for each GPU, or for each CPU of a node that has no GPU",
}


def launch_sentence(spec: JobSpec) -> str:
    """``Runs on 2 to 4 nodes … with 8 workers each: 16 to 32 ranks; survives losing 2 nodes; up to …``"""
    parts = [_size(spec), _losses(spec), *_spares(spec), _failures(spec), *_time(spec)]
    return "; ".join(parts) + "."


def _size(spec: JobSpec) -> str:
    low, high = parse_nnodes(spec.nnodes)
    nodes = count(high, "node") if low == high else f"{low} to {high} nodes"
    wanted = (
        ""
        if low == high
        else f", {spec.nodes or 'as many as are free'} {'wanted ' if spec.nodes else ''}now,"
    )
    if not isinstance(spec.nproc_per_node, int):
        return f"Runs on {nodes}{wanted} with {_EACH[spec.nproc_per_node]}"
    workers = f"{count(spec.nproc_per_node, 'worker')} each"
    return f"Runs on {nodes}{wanted} with {workers}: {_ranks(spec, low, high, spec.nproc_per_node)}"


def _ranks(spec: JobSpec, low: int, high: int, nproc: int) -> str:
    if low == high or spec.nodes is not None:
        return count((spec.nodes or high) * nproc, "rank")
    return f"{low * nproc} to {high * nproc} ranks"


def _losses(spec: JobSpec) -> str:
    low, high = parse_nnodes(spec.nnodes)
    bears = (spec.nodes or high) - low
    if bears:
        return f"survives losing {count(bears, 'node')}"
    if high == 1:
        return "a lost node ends the attempt"
    return "a lost node is waited for" if spec.rdzv_backend != "static" else "a lost node ends the attempt"


def _spares(spec: JobSpec) -> list[str]:
    if spec.spares == 0:
        return []
    one = spec.spares == 1
    return [
        f"{count(spec.spares, 'more node')} {'stands' if one else 'stand'} by to take the place of a lost one"
    ]


def _failures(spec: JobSpec) -> str:
    if spec.max_restarts == 0:
        return "the first failure of a worker ends it"
    return f"up to {count(spec.max_restarts, 'failure restart')} per node"


def _time(spec: JobSpec) -> list[str]:
    limit_s = read_time_limit(spec.time_limit) if spec.time_limit else None
    return [f"is stopped after {span(limit_s)}"] if limit_s else []
