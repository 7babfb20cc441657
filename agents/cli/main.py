"""The console script ``regroup``: what it was called with, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .line import split_line
from .refusals import ExitCode, Refusal
from .voice import clean


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        from .commands import app
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"regroup: The Python module {error.name} is missing. Install what the command line needs: "
            "pip install 'regroup-agent[cli]'\n"
        )
        return ExitCode.FAILED
    try:
        app(_ordered(words), prog_name="regroup")
    except Refusal as refusal:
        sys.stderr.write(f"regroup: {clean(refusal)}\n")
        return int(refusal.code)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(ExitCode.FAILED)
    return ExitCode.OK


def _ordered(words: list[str]) -> list[str]:
    """Of ``run``, our own flags come first, so that all behind them is torchrun's, whatever it looks like."""
    if words[:1] != ["run"]:
        return words
    line = split_line(words[1:])
    return ["run", *line.own, *(["--", *line.torchrun] if line.torchrun else [])]
