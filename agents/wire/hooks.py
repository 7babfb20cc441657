"""What a job says of evidence: how much is taken of a failed round, and which commands get it. Pure."""

from __future__ import annotations

from typing import Any

from .torchrun import Rule

TIMEOUT_S = 60.0
"""What a command may take unless the job says otherwise."""
LEVELS = ("fast", "full", "off")
"""fast: what is there at once. full: py-spy as well, which takes up to 1.5 s. off: nothing."""


def _are_commands(value: Any) -> bool:
    return all(command.strip() and "\0" not in command for command in value)


_COMMANDS = Rule(_are_commands, "Write commands as for a shell; an empty one does nothing.")

RULES: dict[str, Rule] = {
    "evidence": Rule(lambda value: value in LEVELS, "Write fast, full or off."),
    "on_failure": _COMMANDS,
    "on_end": _COMMANDS,
    "hook_timeout_s": Rule(
        lambda value: 0 < value <= 86400,
        "Write the seconds that a command may take, above 0 and at most 86400.",
    ),
}
