"""Checks before a launch: one module for each subject, and here the table of them.

Each gives findings in whole sentences and raises nothing: what cannot be looked at is itself a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ...wire.checks import CheckNode, CheckNodeAnswer, Finding
from . import address, checkpoints, code, endpoint, files, interface, interpreter, space

__all__ = ["answer_check"]


def answer_check(
    request: CheckNode,
    data: Path,
    node: str,
    python: str,
    environments: Mapping[str, str] | None = None,
    hub_url: str | None = None,
) -> CheckNodeAnswer:
    """``python``: the node's default interpreter. ``environments``: those that it offers by name.

    ``hub_url``: where the hub is reached from there. None: where it says itself.
    """
    match request.step:
        case "look":
            script = code.check(request, data, node, hub_url) if request.code else files.check(request, node)
            return _look(request, data, node, python, environments or {}, script)
        case "meet":
            found = [*checkpoints.read_others(request, node), *endpoint.reach(request, node)]
            return CheckNodeAnswer(findings=tuple(found))
        case "clear":
            endpoint.stop(request.run)
            checkpoints.remove(request, node)
            return CheckNodeAnswer()


_ALONE: tuple[Callable[[CheckNode, str], list[Finding]], ...] = (
    checkpoints.write,
    address.check,
    interface.check,
)


def _look(
    request: CheckNode,
    data: Path,
    node: str,
    python: str,
    environments: Mapping[str, str],
    script: list[Finding],
) -> CheckNodeAnswer:
    found = [*script, *(finding for check in _ALONE for finding in check(request, node))]
    found += space.check(request, data, node)
    listening, at = endpoint.listen(request, node)
    answer = interpreter.check(request, node, python, environments)
    return replace(answer, findings=(*answer.findings, *found, *listening), endpoint=at)
