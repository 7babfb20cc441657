"""``regroup open``: an address for eyes. It is printed in any case, since many shells have no browser."""

from __future__ import annotations

import sys
import webbrowser

from .refusals import ExitCode
from .voice import Voice


def open_address(address: str, voice: Voice) -> ExitCode:
    if voice.as_json:
        voice.document({"url": address})
        return ExitCode.OK
    voice.output("stdout", [f"{address}\n"])
    if sys.stdout.isatty():
        webbrowser.open(address)
    return ExitCode.OK
