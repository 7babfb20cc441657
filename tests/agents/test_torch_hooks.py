"""The contract with the pinned torch: what is private there and relied on here is all in one module."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from agents.runner import torch_hooks
from agents.runner.torch_hooks import HookGone, missing, require

AGENTS = Path(__file__).parents[2] / "agents"
PRIVATE = re.compile(r"from torch[\w.]* import (?:\([^)]*\b_\w|.*\b_\w)|from torch\.\w*_C|import torch\._")


class Ours:
    def __init__(self) -> None:
        self.kept = 1

    def run(self, deadline: float) -> None: ...


def test_the_pinned_torch_has_every_hook() -> None:
    require()
    assert version("torch").split("+")[0].startswith(torch_hooks.TESTED)


def test_what_is_gone_is_named() -> None:
    methods: dict[type, dict[str, tuple[str, ...]]] = {
        Ours: {"run": ("deadline", "until"), "stop": (), "__init__": ()}
    }
    assert missing(methods, {Ours: ("kept", "lost")}) == [
        "Ours.run(deadline, until)",
        "Ours.stop()",
        "Ours.lost",
    ]
    with pytest.raises(HookGone) as refusal:
        raise HookGone(missing(methods, {}))
    assert "has no Ours.run(deadline, until), Ours.stop()" in str(refusal.value)
    assert f"Install a torch it is tested with ({', '.join(torch_hooks.TESTED)})" in str(refusal.value)


def test_nothing_private_of_torch_is_used_by_another_way() -> None:
    assert PRIVATE.search("from torch.distributed.x import (\n    A,\n    _B,\n)")
    assert not PRIVATE.search("from torch.distributed.x import (\n    A_b,\n)\nfrom y import _z")
    modules = [path for path in AGENTS.rglob("*.py") if path.name != "torch_hooks.py"]
    assert [path.name for path in modules if PRIVATE.search(path.read_text())] == []
