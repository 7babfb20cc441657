"""What a launch asked for as it is stored, back in its own types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.wire.spec import LISTS, JobSpec

from .models import Job
from .wishes import Wish


def spec_of(job: Job) -> JobSpec:
    """The stored spec; fields that this version does not know are left out."""
    known = {key: value for key, value in job.spec.items() if key in JobSpec.__dataclass_fields__}
    lists = {key: tuple(known[key]) for key in LISTS if key in known}
    return JobSpec(**{**known, **lists})


def wish_of(placing: Mapping[str, Any]) -> Wish:
    """Which nodes are asked for, from ``Job.placing``; nothing in particular where it is empty."""
    return Wish(
        packs=placing.get("placement") == "pack",
        labels=placing.get("nodes_selector") or {},
        names=frozenset(placing.get("node_names") or ()),
        gpu_model=placing.get("gpu_model") or "",
        gpus=placing.get("gpus_per_node") or 0,
    )
