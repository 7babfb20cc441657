"""The settings that hold for a job, also where nothing was written, each with where it is from. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from agents.wire.interfaces import VARIABLES
from agents.wire.rdzv import read_rdzv_conf
from agents.wire.spec import JobSpec
from agents.wire.time_limit import read_time_limit

from .torchrun_schemas import SettingOut
from .words import span

SPEC, USUAL, OURS = "from the spec", "torchrun's default", "Regroup's default"
_TIMES = ("join_timeout", "last_call_timeout", "read_timeout")


def effective(spec: JobSpec) -> list[SettingOut]:
    return [SettingOut(name=name, value=value, why=why) for name, value, why in _settings(spec)]


def _settings(spec: JobSpec) -> Iterator[tuple[str, str, str]]:
    yield ("OMP_NUM_THREADS", *_threads(spec))
    yield "PYTHONUNBUFFERED", spec.env.get("PYTHONUNBUFFERED", "1"), "lines come at once"
    yield "max_restarts", str(spec.max_restarts), SPEC if spec.max_restarts else USUAL
    yield "max_relaunches", str(spec.max_relaunches), _from(spec, "max_relaunches")
    yield "python", spec.python or "the node agent's", SPEC if spec.python else OURS
    if spec.time_limit is not None:
        yield "time_limit", span(read_time_limit(spec.time_limit) or 0), "over all its attempts"
    yield from _interfaces(spec)
    yield "workdir", spec.workdir or _folder(spec), SPEC if spec.workdir else OURS
    yield ("start", *_start(spec))
    yield ("rdzv_endpoint", *_endpoint(spec))
    yield from _times(spec)
    yield "shutdown_timeout", f"{spec.shutdown_timeout:g} s", "from SIGTERM to SIGKILL"
    yield "monitor_interval", f"{spec.monitor_interval:g} s", "a worker's end is seen at once besides"


def _from(spec: JobSpec, name: str) -> str:
    return OURS if getattr(spec, name) == getattr(JobSpec(), name) else SPEC


def _threads(spec: JobSpec) -> tuple[str, str]:
    if "OMP_NUM_THREADS" in spec.env:
        return spec.env["OMP_NUM_THREADS"], "from env"
    if spec.nproc_per_node == 1:
        return "not set", "a node has one worker, which may use all its cores"
    if isinstance(spec.nproc_per_node, str):
        return (
            "1 where a node has several workers",
            "as torchrun sets it; write it into env for another number",
        )
    return "1", "as torchrun sets it for several workers on a node; write it into env for another number"


def _folder(spec: JobSpec) -> str:
    return "where the uploaded code is unpacked" if spec.code else "a folder of the attempt's own"


def _interfaces(spec: JobSpec) -> Iterator[tuple[str, str, str]]:
    if spec.interface:
        yield "interface", spec.interface, SPEC
    else:
        why = "unless the node agent's environment names another"
        yield "interface", "the one with each node's address", why
    for name in VARIABLES:
        if name in spec.env:
            yield name, spec.env[name], "from env, before interface"


def _start(spec: JobSpec) -> tuple[str, str]:
    if spec.start == "exec":
        return "exec", "each worker starts an interpreter of its own"
    return "preload", f"workers are forked with {', '.join(spec.preload)} imported" if spec.preload else OURS


def _endpoint(spec: JobSpec) -> tuple[str, str]:
    if spec.standalone:
        return "picked on 127.0.0.1", "standalone"
    if spec.rdzv_endpoint:
        return spec.rdzv_endpoint, SPEC
    return "picked for each attempt", "a free port on the node that keeps the store"


def _times(spec: JobSpec) -> Iterator[tuple[str, str, str]]:
    conf = read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend)
    for name in _TIMES:
        yield name, f"{getattr(conf, name)} s", "from rdzv_conf" if name in spec.rdzv_conf else OURS
    lost_s = conf.keep_alive_interval * conf.keep_alive_max_attempt
    yield "a silent node is gone after", f"{lost_s} s", "keep_alive_interval times keep_alive_max_attempt"
