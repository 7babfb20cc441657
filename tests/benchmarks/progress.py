"""What the person at the terminal reads meanwhile; the results alone go to stdout."""

from __future__ import annotations

import sys
import time

_BEGUN = time.monotonic()


def say(text: str) -> None:
    sys.stderr.write(f"{time.monotonic() - _BEGUN:6.0f} s  {text}\n")
    sys.stderr.flush()
