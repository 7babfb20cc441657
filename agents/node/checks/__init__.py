"""Checks before a launch: one module for each subject, and here the table of them.

Each gives findings in whole sentences and raises nothing: what cannot be looked at is itself a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...wire.checks import CheckNode, CheckNodeAnswer, Finding
from . import address, checkpoints, endpoint, files, interface, interpreter, space

__all__ = ["answer_check"]


def answer_check(request: CheckNode, data: Path, node: str, python: str) -> CheckNodeAnswer:
    """``python``: the node's default interpreter."""
    match request.step:
        case "look":
            return _look(request, data, node, python)
        case "meet":
            found = [*checkpoints.read_others(request, node), *endpoint.reach(request, node)]
            return CheckNodeAnswer(findings=tuple(found))
        case "clear":
            endpoint.stop(request.run)
            checkpoints.remove(request, node)
            return CheckNodeAnswer()


_ALONE: tuple[Callable[[CheckNode, str], list[Finding]], ...] = (
    files.check,
    checkpoints.write,
    address.check,
    interface.check,
)


def _look(request: CheckNode, data: Path, node: str, python: str) -> CheckNodeAnswer:
    found = [finding for check in _ALONE for finding in check(request, node)]
    found += space.check(request, data, node)
    listening, at = endpoint.listen(request, node)
    answer = interpreter.check(request, node, python)
    return replace(answer, findings=(*answer.findings, *found, *listening), endpoint=at)
