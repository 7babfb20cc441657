"""Whether a job could run on a node: what the hub asks before a launch, and what the node finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .code import CodeSource

Check = Literal[
    "python",
    "script",
    "workdir",
    "checkpoints",
    "endpoint",
    "address",
    "clock",
    "disk",
    "shm",
    "interface",
]
Verdict = Literal["ok", "warn", "fail"]
Step = Literal["look", "meet", "clear"]


@dataclass(frozen=True, kw_only=True)
class CheckNode:
    """Ask what a node finds of a job that may be launched there. Answered with a ``CheckNodeAnswer``.

    look: what it can tell alone. It leaves a file in the checkpoint folder, and listens like a store.
    meet: it reads the files that the others left, and connects to the endpoint.
    clear: it removes its file and listens no more; a minute later it does so unasked.
    """

    kind: Literal["check_node"] = "check_node"
    id: str
    run: str
    """Names what the steps of one run of the checks leave behind: letters and digits."""
    step: Step
    script: str | None = None
    module: str | None = None
    no_python: bool = False
    env: dict[str, str] = field(default_factory=dict)
    workdir: str | None = None
    code: CodeSource | None = None
    """Where the job's uploaded code is fetched, in which the script lies. None: it has none."""
    python: str | None = None
    checkpoint_dir: str | None = None
    nodes: tuple[str, ...] = ()
    """All that are checked together."""
    is_one_machine: bool = False
    """They are node agents of one machine, which meet on loopback as well."""
    local_addr: str = ""
    """The address under which the other nodes reach this one."""
    interface: str | None = None
    """Which network interfaces the job asks for. None: none in particular."""
    endpoint: str = ""
    """look: where the node is to listen. meet: where it is to connect. Empty: nowhere."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    check: Check
    verdict: Verdict
    says: str
    what_to_do: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckNodeAnswer:
    findings: tuple[Finding, ...] = ()
    endpoint: str = ""
    """Where it listens now."""
    python: str = ""
    """Versions that should be the same everywhere. Empty: not found."""
    torch: str = ""
