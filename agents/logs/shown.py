"""What a line looks like to a reader: without control sequences, as a terminal would leave it standing."""

from __future__ import annotations

import re

_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def shown(text: str) -> str:
    """Of a progress bar what was written last. The page does the same, in ``lib/ansi.ts``."""
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    if "\r" in text:
        text = text.rstrip("\r").rpartition("\r")[2]
    return text if text.isprintable() else _CONTROLS.sub("", text)
