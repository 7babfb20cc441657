"""Secrets at rest: sealed with the hub's own key, in a file that only its owner can read.

The file has one key a line. The first seals; all of them open, so that a new key can be put in front.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

VARIABLE = "REGROUP_SECRET_ENV_KEY_FILE"

Secrets = dict[str, dict[str, str]]
"""The values by field of the spec and name."""


class KeyTrouble(RuntimeError):
    """Nothing can be sealed or opened. The text says why and what to do, in whole sentences."""


def seal(secrets: Mapping[str, Mapping[str, str]]) -> str:
    """Empty where there are none.

    Raises:
        KeyTrouble: the key cannot be read or made.
    """
    return _keys().encrypt(json.dumps(secrets).encode()).decode() if secrets else ""


def unseal(sealed: str) -> Secrets:
    """Raises:
    KeyTrouble: the key cannot be read, or is another one than they were sealed with.
    """
    if not sealed:
        return {}
    try:
        secrets: Secrets = json.loads(_keys().decrypt(sealed.encode()))
    except InvalidToken:
        raise KeyTrouble(
            f"They were sealed with another key than those in {key_file()}. Add a line with that key, or "
            "launch the job with its values anew."
        ) from None
    return secrets


def key_file() -> Path:
    return Path(os.environ.get(VARIABLE) or settings.DATA / "secret_env_key")


def find_trouble() -> str:
    """Why nothing can be sealed or opened; empty where it can."""
    try:
        _keys()
    except KeyTrouble as trouble:
        return str(trouble)
    return ""


def _keys() -> MultiFernet:
    path = key_file()
    try:
        if not path.exists():
            _make(path)
        lines = [line.strip() for line in path.read_text().splitlines()]
    except OSError as error:
        raise KeyTrouble(
            f"The key in {path} cannot be read or made ({error.strerror}). Make it readable for the hub, or "
            f"name another file in {VARIABLE}."
        ) from error
    try:
        return MultiFernet([Fernet(line) for line in lines if line and not line.startswith("#")])
    except ValueError as error:
        raise KeyTrouble(
            f"{path} holds no such key: {error}. Put back the file that the hub made, or one key a line."
        ) from error


def _make(path: Path) -> None:
    """Of several processes that do so at once one makes it, as a link refuses to replace."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(Fernet.generate_key() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(aside)
    finally:
        aside.unlink()
