"""``regroup login``: a token is tried before it is saved."""

from __future__ import annotations

import os
import sys
from urllib.parse import urlsplit

from .config import Door, config_file, read_url, write_file
from .hub import Hub
from .refusals import ExitCode, Refusal
from .voice import Voice


def log_in(url: str, token: str | None, voice: Voice) -> ExitCode:
    """Ask for the token, see whom it stands for, and keep it for the next commands."""
    address = read_url(url)
    if _is_in_the_clear(address):
        voice.insist(f"{address} is not https: whoever is on the way can read the token.")
    door = Door(address, token or _ask(address))
    with Hub(door) as hub:
        me = hub.get("/session")
    file = config_file(os.environ)
    write_file(file, door)
    if voice.as_json:
        voice.document({"url": address, "file": str(file), **me})
    else:
        voice.output("stdout", [f"Logged in at {address} as {me['name']} ({me['role']}); saved in {file}.\n"])
    return ExitCode.OK


def _is_in_the_clear(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


def _ask(address: str) -> str:
    """Not shown while it is typed; from a pipe it is the first line."""
    if sys.stdin.isatty():
        from getpass import getpass

        token = getpass(f"Token for {address} (make token prints one): ")
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise Refusal(
            "No token was given. Make one at the hub: make token NAME=anna ROLE=operator", ExitCode.USAGE
        )
    return token.strip()
