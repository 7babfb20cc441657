"""Which hub is meant and who asks: from options, the environment, or a file that ``regroup login`` writes."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .refusals import ExitCode, Refusal

FILE_HINT = "Run regroup login URL, or set REGROUP_URL and REGROUP_TOKEN."


@dataclass(frozen=True)
class Door:
    """Where the hub is, and what opens it."""

    url: str
    token: str


def config_file(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CONFIG_HOME") or str(
        Path(environment.get("HOME", "~")).expanduser() / ".config"
    )
    return Path(base) / "regroup" / "config.toml"


def read_url(text: str) -> str:
    """The hub's address as it is used from here on. Raises ``Refusal`` for what is none."""
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise Refusal(
            f"{text!r} is not the address of a hub. Write it with http:// or https://, "
            "such as https://regroup.example.org.",
            ExitCode.USAGE,
        )
    return text.strip().rstrip("/").removesuffix("/api")


def find_door(url: str | None, token: str | None, environment: Mapping[str, str]) -> Door:
    """Options win over the environment, and that over the file; a token in the file is for its hub alone.

    Raises:
        Refusal: no hub is named, or no token for it is known.
    """
    saved = read_file(config_file(environment))
    named = url or environment.get("REGROUP_URL") or (saved.url if saved else "")
    if not named:
        raise Refusal(f"No hub is named. {FILE_HINT}", ExitCode.USAGE)
    address = read_url(named)
    found = (
        token or environment.get("REGROUP_TOKEN") or (saved.token if saved and saved.url == address else "")
    )
    if not found:
        raise Refusal(f"No token for {address} is known. {FILE_HINT}", ExitCode.NOT_ALLOWED)
    return Door(address, found)


def read_file(file: Path) -> Door | None:
    """What was saved; None where nothing was. Raises ``Refusal`` for a file that cannot be used."""
    try:
        saved = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refusal(
            f"The configuration {file} cannot be read: {error}. Mend it, or write it anew with login.",
            ExitCode.USAGE,
        ) from error
    url, token = saved.get("url", ""), saved.get("token", "")
    if not isinstance(url, str) or not isinstance(token, str):
        raise Refusal(
            f"In {file}, url and token have to be texts. Run regroup login URL again.", ExitCode.USAGE
        )
    return Door(read_url(url), token) if url else None


def write_file(file: Path, door: Door) -> None:
    """Only its owner can read it, at no moment anybody else; an older one stays until this one is whole."""
    # JSON's strings are TOML's too.
    text = f"url = {json.dumps(door.url)}\ntoken = {json.dumps(door.token)}\n"
    aside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside.unlink(missing_ok=True)
        with open(
            os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as output:
            output.write(text)
            output.flush()
            os.fsync(output.fileno())
        aside.replace(file)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise Refusal(
            f"The token could not be saved in {file}: {error.strerror}. Make it writable."
        ) from error
