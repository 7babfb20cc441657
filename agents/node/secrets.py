"""The node's key pair, and the secrets of jobs that the hub has sealed for it: opened in memory alone."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ..wire.sealing import CannotOpen, name_of, open_sealed
from ..wire.spec import StartMessage
from .config import ConfigError

FILE = "secrets_key"


def keep_key(data: Path) -> X25519PrivateKey:
    """The key in the node agent's data folder; made when there is none.

    Raises:
        OSError: it can be neither read nor written.
        ConfigError: what is there is no such key.
    """
    path = data / FILE
    if not path.exists():
        _make(path)
    try:
        return _read(path)
    except ValueError as error:
        raise ConfigError(
            f"{path} holds no key of a node agent: {error} Put the right file back, or remove it; what runs "
            "here then goes on, without its secret variables for later commands of its own."
        ) from error


def _make(path: Path) -> None:
    """Whole or not at all, and never in place of one: a link refuses to replace."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(X25519PrivateKey.generate().private_bytes_raw())
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def _read(path: Path) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(path.read_bytes())


def open_message(message: StartMessage, data: Path) -> StartMessage:
    """The message with the job's secrets in its spec. It is for memory: never write it down.

    Raises:
        CannotOpen: with a whole sentence.
    """
    if not message.sealed:
        return message
    try:
        text = open_sealed(message.sealed, _read(data / FILE), name_of(message.attempt, message.node))
    except (CannotOpen, OSError, ValueError) as error:
        raise CannotOpen(_say(message, data, error)) from error
    secrets, spec = json.loads(text), message.spec
    env, conf = spec.env | secrets.get("env", {}), spec.rdzv_conf | secrets.get("rdzv_conf", {})
    return replace(message, sealed="", spec=replace(spec, env=env, rdzv_conf=conf))


def _say(message: StartMessage, data: Path, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return (
        f"The secret variables of attempt {message.attempt} cannot be opened on {message.node} with the key "
        f"in {data / FILE}: {why}. Restart its node agent, so that the hub hears of the key it has now, and "
        "launch the job again."
    )
