"""What torch's agent is told of the workers: torchrun's own options, from the job's spec."""

from __future__ import annotations

import os
import shutil
from typing import Any

import torch
from torch.distributed.elastic.agent.server.api import WorkerSpec
from torch.distributed.elastic.rendezvous import RendezvousHandler
from torch.numa.binding import AffinityMode, NumaOptions

from ..wire.spec import JobSpec, StartMessage, workers_on
from .command import CannotStart, command

NO_SLEEP_S = 1e-9
"""torch's loop sleeps before each look, and takes no 0; the waiting is in ``_monitor_workers``."""
PREFIX = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"


def worker_spec(message: StartMessage, handler: RendezvousHandler) -> WorkerSpec:
    """Raises ``CannotStart`` for what this node lacks."""
    spec = message.spec
    program, *args = command(spec)
    return WorkerSpec(
        role=spec.role,
        local_world_size=workers_on(message),
        rdzv_handler=handler,
        entrypoint=program,
        args=tuple(args),
        max_restarts=spec.max_restarts,
        monitor_interval=NO_SLEEP_S,
        event_log_handler=spec.event_log_handler,
        numa_options=_numa_options(spec, message.node),
        duplicate_stdout_filters=list(spec.duplicate_stdout_filters),
        duplicate_stderr_filters=list(spec.duplicate_stderr_filters),
        virtual_local_rank=spec.virtual_local_rank,
    )


def agent_options(spec: JobSpec) -> dict[str, Any]:
    """What torch's agent takes itself."""
    return {
        "start_method": spec.start_method,
        "log_line_prefix_template": spec.log_line_prefix_template or os.environ.get(PREFIX),
    }


def _numa_options(spec: JobSpec, node: str) -> NumaOptions | None:
    if spec.numa_binding is None:
        return None
    if not torch.cuda.is_available():
        raise CannotStart(
            f"numa_binding puts workers near their GPUs, and torch sees no GPU on {node}. Leave it out."
        )
    if shutil.which("numactl") is None:
        raise CannotStart(f"numa_binding needs numactl, which is not on {node}. Install it, or leave it out.")
    return NumaOptions(affinity_mode=AffinityMode(spec.numa_binding))
