"""Secrets at rest: sealed with the hub's own key, in a file that only its owner can read.

The file has one key a line. The first seals; all of them open, so that a new key can be put in front.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from .private_file import make_once

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
            f"They were sealed with another key than those in {_key_file()}. Add a line with that key, or "
            "launch the job with its values anew."
        ) from None
    return secrets


def find_trouble() -> str:
    """Why nothing can be sealed or opened; empty where it can."""
    try:
        _keys()
    except KeyTrouble as trouble:
        return str(trouble)
    return ""


def _key_file() -> Path:
    path: Path = settings.SECRET_ENV_KEY_FILE
    return path


def _keys() -> MultiFernet:
    path = _key_file()
    try:
        if not path.exists():
            make_once(path, Fernet.generate_key().decode() + "\n")
        return _read_keys(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise KeyTrouble(
            f"The key in {path} cannot be read or made ({error.strerror}). Make it readable for the hub, or "
            "name another file in REGROUP_SECRET_ENV_KEY_FILE."
        ) from error


@lru_cache(maxsize=1)
def _read_keys(path: Path, changed_at_ns: int) -> MultiFernet:
    """Once for each state of the file: the queue is looked through every second."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    try:
        return MultiFernet([Fernet(line) for line in lines if line and not line.startswith("#")])
    except ValueError as error:
        raise KeyTrouble(
            f"{path} holds no such key: {error}. Put back the file that the hub made, or one key a line."
        ) from error
