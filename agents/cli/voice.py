"""Where words go: answers to stdout, what is said beside them to stderr, and one line that comes and goes.

The line that comes and goes is there on a terminal only, and never while output is being written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: object) -> str:
    """Words of other people without what would steer the terminal."""
    return _CONTROLS.sub("\ufffd", str(text))


class Voice:
    """``as_json``: stdout carries JSON alone. ``is_quiet``: nothing is said beside answers but errors."""

    def __init__(self, as_json: bool = False, is_quiet: bool = False) -> None:
        self.as_json, self._is_quiet = as_json, is_quiet
        self._line = None if is_quiet or not sys.stderr.isatty() else _StatusLine()
        self._torn: dict[str, object] = {}
        """Of each stream, who wrote a line there that has not been ended."""

    @property
    def is_live(self) -> bool:
        return self._line is not None

    def output(self, stream: str, texts: Iterable[str], source: object = None) -> None:
        """What ``source`` wrote, unchanged, ends of lines included; only no two of them share a line."""
        self.hide()
        text = "".join(texts)
        is_strange = self._torn.pop(stream, source) != source
        if not text.endswith("\n"):
            self._torn[stream] = source
        _write(sys.stderr if stream == "stderr" else sys.stdout, "\n" * is_strange + text)

    def document(self, value: Any) -> None:
        """One JSON document, on a line of its own."""
        self.hide()
        _write(sys.stdout, json.dumps(value, ensure_ascii=False) + "\n")

    def say(self, sentence: str) -> None:
        """Beside the answer: what goes on."""
        if not self._is_quiet:
            self.insist(sentence)

    def insist(self, sentence: str) -> None:
        """The same for what has to be said even to those who want quiet."""
        self.hide()
        _write(sys.stderr, f"regroup: {clean(sentence)}\n")

    def show(self, text: str) -> None:
        """Put this into the line that comes and goes."""
        if self._line is not None:
            self._line.show(clean(text))

    def hide(self) -> None:
        if self._line is not None:
            self._line.hide()

    def close(self) -> None:
        """Nothing is left on the terminal but what was said."""
        self.hide()


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


class _StatusLine:
    """The last line of the terminal, for as long as nobody else writes there."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console: Console = Console(stderr=True, highlight=False, markup=False)
        self._shown = ""

    def show(self, text: str) -> None:
        if text == self._shown:
            return
        from rich.text import Text

        self.hide()
        line = Text(text, style="dim", no_wrap=True, overflow="ellipsis")
        line.truncate(max(1, self._console.width - 1), overflow="ellipsis")
        self._console.print(line, end="\r")
        self._shown = text

    def hide(self) -> None:
        if not self._shown:
            return
        from rich.control import Control
        from rich.segment import ControlType

        self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
        self._shown = ""
