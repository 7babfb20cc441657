"""Which nodes a job asks for, whatever room they have: by name, label, GPUs and interpreter. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .words import count


@dataclass(frozen=True)
class Wish:
    packs: bool = False
    """The fullest nodes that still have room come first, not the emptiest."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those that each node must have."""
    names: frozenset[str] = frozenset()
    """Empty: any node."""
    gpu_model: str = ""
    """A part of a GPU's name. Empty: any."""
    gpus: int = 0
    """GPUs of that model that each node must have."""
    environment: str = ""
    """The named interpreter that each node must offer. Empty: none in particular."""
    hands_secrets: bool = False
    """Secret variables go along, which each node must be able to open."""


def say_unsuited(
    wish: Wish,
    node: str,
    labels: Mapping[str, str],
    gpu_models: Sequence[str],
    environments: Mapping[str, str],
    opens_secrets: bool = True,
) -> str:
    """Why the node is none of those asked for, as words behind its name. Empty: it is one."""
    if wish.names and node not in wish.names:
        return "is not among the nodes named"
    for key, value in sorted(wish.labels.items()):
        if labels.get(key) != value:
            return f"has {key}={labels[key]}, not {value}" if key in labels else f"has no label {key}"
    if wish.hands_secrets and not opens_secrets:
        return "cannot be given secret variables, as its node agent is of an older release"
    return _say_environment(wish.environment, environments) or _say_gpus(wish, gpu_models)


def _say_environment(name: str, offered: Mapping[str, str]) -> str:
    """``offered``: why no job can run in it, by its name; empty where nothing is known against it."""
    if not name:
        return ""
    if name not in offered:
        return f"offers no environment {name}"
    return f"has an environment {name} that {offered[name]}" if offered[name] else ""


def _say_gpus(wish: Wish, gpu_models: Sequence[str]) -> str:
    least = max(wish.gpus, 1 if wish.gpu_model else 0)
    if not least:
        return ""
    have = sum(wish.gpu_model.lower() in model.lower() for model in gpu_models)
    if have >= least:
        return ""
    kind = f"{wish.gpu_model} GPU" if wish.gpu_model else "GPU"
    return f"has {count(have, kind)}, and {least} {'is' if least == 1 else 'are'} asked for"
