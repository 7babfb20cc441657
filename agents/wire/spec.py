"""The job spec in torchrun's own words, and the start message a runner is given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import hooks, stall_rules, time_limit
from .code import CodeSource, is_digest
from .endpoint import parse_endpoint
from .environments import why_not_python
from .interfaces import why_not_interface
from .log_metrics import why_not_patterns
from .rdzv import BACKENDS, NOT_V2, ConfError, default_port, family, read_rdzv_conf
from .torchrun import RULES, SIGNALS

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
    nproc_per_node: int | str = 1
    """Workers on each node, or ``gpu``, ``cpu``: as many as it has, or ``auto``: ``gpu`` where it has any."""
    spares: int = 0
    """Nodes beyond those wanted: they stand by, and one takes the place of a node that is lost."""
    max_restarts: int = 0
    """Failure restarts each node may spend in one attempt."""
    max_membership_restarts: int | None = None
    """Membership restarts that one attempt may take. None: as many as come."""
    max_relaunches: int = 3
    """New attempts after one that ended for no fault of the job's, such as a lost store host."""
    shrink_on_gpu_loss: bool = False
    """A worker whose GPU is gone is not started again: its node goes on with one fewer."""
    standalone: bool = False
    """One node that meets itself on localhost, as ``torchrun --standalone``."""
    rdzv_backend: str = "c10d"
    """``c10d``, ``static``, or ``etcd``, which is ``etcd-v3``."""
    rdzv_endpoint: str = ""
    """``HOST[:PORT]``, of etcd several with commas. Empty: Regroup picks node and port for each attempt."""
    rdzv_conf: dict[str, str] = field(default_factory=dict)
    script: str | None = None
    module: str | None = None
    """Instead of a script, as ``python -m``."""
    code: str | None = None
    """SHA-256 of uploaded code in which the script lies; its folder is the workdir unless one is given."""
    no_python: bool = False
    """The script is a program of its own, which is executed as it is."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    secret_env: tuple[str, ...] = ()
    """Variables of ``env`` that are secret, besides those that look so. See ``masking.py``."""
    workdir: str | None = None
    python: str | None = None
    """The job's interpreter: a path, or ``env:NAME`` for one that the nodes offer. None: their default."""
    start: str = "preload"
    """``preload``: workers fork from a process that has imported ``preload``. ``exec``: each starts anew."""
    preload: tuple[str, ...] = ("torch", "torch.distributed")
    start_method: str = "spawn"
    """As in torchrun without ``run_path``: checked, and of no effect. ``start`` is what matters here."""
    role: str = "default"
    monitor_interval: float = 0.1
    shutdown_timeout: float = 30.0
    """Seconds between SIGTERM and SIGKILL when workers are asked to stop."""
    exit_barrier_timeout: float | None = None
    """Seconds that a node that is done waits for the others. None: as long as they run."""
    signals_to_handle: str = SIGNALS
    event_log_handler: str = "null"
    redirects: str = "0"
    """Checked, and of no effect: both streams of every rank go into files of their own anyway."""
    tee: str = "0"
    """Streams that are copied to the runner's log too, each line with a prefix."""
    local_ranks_filter: str = ""
    """The local ranks of which ``tee`` copies anything. Empty: all."""
    log_line_prefix_template: str | None = None
    duplicate_stdout_filters: tuple[str, ...] = ()
    """Lines of what ``tee`` copies that hold one of these texts are copied to a file of the round, too."""
    duplicate_stderr_filters: tuple[str, ...] = ()
    virtual_local_rank: bool = False
    """Each worker sees its own GPU alone, and has ``LOCAL_RANK`` 0."""
    numa_binding: str | None = None
    log_max_bytes: int = 1 << 30
    """Of each stream of a worker so much is kept on its node; when it grows beyond, its beginning goes."""
    log_metrics: tuple[str, ...] = ()
    """Regular expressions whose named groups are read from the workers' output. See ``log_metrics.py``."""
    evidence: str = "fast"
    """How much is taken of a failed round before its workers are ended: see ``hooks.LEVELS``."""
    on_failure: tuple[str, ...] = ()
    """Commands that each node runs after a round that failed, for a shell in the workdir."""
    on_end: tuple[str, ...] = ()
    """Commands that each node runs when its part in an attempt is over."""
    hook_timeout_s: float = hooks.TIMEOUT_S
    """What each of these commands may take."""
    stall_after_s: float | None = None
    """Seconds without a step after which a worker counts as stalled. 0: never. None: by its own pace."""
    stall_log_regex: str = ""
    """Where no steps are reported: what lines of a healthy worker match. Empty: any line."""
    stall_log_start_s: float = stall_rules.START_S
    """Seconds at the beginning of a round in which no such line is expected."""
    stall_log_every_s: float | None = None
    """Seconds within which such a line has to come again. None: lines tell nothing of stalls."""
    on_stall: str = "notify"
    """``notify``, or ``restart``: the rank that is behind is killed."""
    stall_restarts_per_hour: int = 2
    """How often that may be done."""
    time_limit: str | None = None
    """How long it may run over all its attempts, as ``time_limit.py`` reads it. None: without a limit."""
    interface: str | None = None
    """Network interfaces for NCCL and gloo, as ``interfaces.py`` reads it. None: the one with the node's
    address, where there is one."""


LISTS = (
    "args",
    "secret_env",
    "preload",
    "duplicate_stdout_filters",
    "duplicate_stderr_filters",
    "log_metrics",
    "on_failure",
    "on_end",
)
"""Fields of a spec that JSON has as lists."""


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
    _check_counts(spec)
    _check_rules(spec)
    _check_script(spec)
    _check_rendezvous(spec)
    _check_start(spec)
    if unknown := [name for name in spec.secret_env if name not in spec.env]:
        raise SpecError(
            "secret_env",
            f"secret_env names {unknown[0]}, and env has no such variable. Add it, or leave it out.",
        )
    if why := why_not_patterns(spec.log_metrics):
        raise SpecError("log_metrics", why)
    if why := why_not_python(spec.python):
        raise SpecError("python", why)
    if why := why_not_interface(spec.interface):
        raise SpecError("interface", why)


def _check_rules(spec: JobSpec) -> None:
    for name, rule in (RULES | hooks.RULES | stall_rules.RULES | time_limit.RULES).items():
        value = getattr(spec, name)
        if not rule.allows(value):
            raise SpecError(name, f"{name} is {value!r}. {rule.advice}")


def _check_script(spec: JobSpec) -> None:
    if spec.no_python and spec.module:
        raise SpecError("no_python", "A module needs Python. Leave out no_python, or the module.")
    if bool(spec.script) == bool(spec.module):
        raise SpecError("script", "Give either a script or a module to run, not both and not neither.")
    if spec.code is not None:
        _check_code(spec, spec.code)
    elif spec.script and _is_relative(spec) and not spec.workdir:
        raise SpecError(
            "script",
            f"script is {spec.script!r}, a relative path, and no workdir is given. "
            "Write an absolute path as it is on the nodes, or give a workdir.",
        )


def _check_code(spec: JobSpec, code: str) -> None:
    if not is_digest(code):
        raise SpecError(
            "code", f"code is {code!r}. Write the digest of an upload, which has 64 digits of 0-9 and a-f."
        )
    if spec.script and (spec.script.startswith("/") or ".." in spec.script.split("/")):
        raise SpecError(
            "script",
            f"script is {spec.script!r}, and it is looked for in the uploaded code. "
            "Write its path in there, such as train.py, or leave out code.",
        )
    if spec.module and spec.workdir:
        raise SpecError(
            "workdir",
            "A module of uploaded code is found because its folder is the workdir. Leave out workdir.",
        )


def _is_relative(spec: JobSpec) -> bool:
    """A bare name of a program is looked for in PATH instead."""
    script = spec.script or ""
    return not script.startswith("/") and not is_bare_name(spec)


def is_bare_name(spec: JobSpec) -> bool:
    """Whether the script is a program that is looked for in PATH."""
    return spec.no_python and "/" not in (spec.script or "/")


def _check_counts(spec: JobSpec) -> None:
    for name in ("spares", "max_restarts", "max_membership_restarts", "max_relaunches"):
        count = getattr(spec, name)
        if count is not None and count < 0:
            raise SpecError(name, f"{name} is {count}. Write 0 or more.")


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
    _check_forking(spec)
    for name in spec.preload:
        if not all(part.isidentifier() for part in name.split(".")):
            raise SpecError("preload", f"preload has {name!r}. Write names of Python modules, such as torch.")


def _check_forking(spec: JobSpec) -> None:
    """What a worker has only when its command is executed."""
    if spec.start == "exec":
        return
    if spec.no_python:
        raise SpecError(
            "start", "no_python runs a program that Python cannot fork from itself. Write start: exec."
        )
    if spec.numa_binding:
        raise SpecError(
            "start", "numa_binding puts numactl in front of a worker's command. Write start: exec."
        )


def slots_needed(spec: JobSpec) -> int:
    """Worker slots that one node of this job occupies; at least, where that depends on the node."""
    return spec.nproc_per_node if isinstance(spec.nproc_per_node, int) else 1


def nproc_on(spec: JobSpec, cpus: int, gpus: int) -> int:
    """Workers of this job on a node with so many devices. 0: it has none of those that are asked for."""
    match spec.nproc_per_node:
        case "cpu":
            return cpus
        case "gpu":
            return gpus
        case "auto":
            return gpus or cpus
    return slots_needed(spec)


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
    nproc: int = 0
    """Workers on this node. 0, as from an older hub: what the spec says."""
    code: CodeSource | None = None
    """Where the job's uploaded code is fetched. None: it has none."""
    incarnation: int = 1
    """Tells the runners apart that this node has had in this attempt, one after the other."""
    sealed: str = ""
    """The job's secrets, sealed for this node by ``sealing.py``. The spec lacks them then."""
    spec: JobSpec


def workers_on(message: StartMessage) -> int:
    """How many workers the runner starts."""
    return message.nproc or slots_needed(message.spec)
