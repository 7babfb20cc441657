"""Typed reads of the environment. Nonsense is refused with one sentence; a fresh clone needs no variable."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from agents.wire.bus import check_url

from .private_file import make_once

_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})
_POSTGRES_SCHEMES = frozenset({"postgres", "postgresql"})


class BadSetting(ImproperlyConfigured):
    """An environment variable that makes no sense. The text is one sentence for the person who set it."""


def read_flag(name: str) -> bool:
    """Raises ``BadSetting`` for anything that is neither yes nor no."""
    text = os.environ.get(name, "").strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise BadSetting(f"{name} is {text!r}; write 1 for yes or 0 for no.")


def read_number(name: str, default: int = 0) -> int:
    """A whole number from 0. Raises ``BadSetting`` for anything else."""
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal():
        raise BadSetting(f"{name} is {text!r}; write a whole number, 0 or more.")
    return int(text)


def read_list(name: str, default: list[str]) -> list[str]:
    """Comma-separated values; blanks are dropped."""
    text = os.environ.get(name)
    return default if text is None else [part.strip() for part in text.split(",") if part.strip()]


def allowed_hosts() -> list[str]:
    """Host names under which the page is reached."""
    return read_list("REGROUP_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])


def read_secret(name: str) -> str | None:
    """The value of ``NAME``, or the content of the file that ``NAME_FILE`` names.

    Raises:
        BadSetting: both are set, or the file cannot be read.
    """
    value, file = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if value and file:
        raise BadSetting(f"{name} and {name}_FILE are both set; keep one of them.")
    if not file:
        return value or None
    try:
        return Path(file).read_text().strip()
    except OSError as error:
        raise BadSetting(
            f"{name}_FILE names {file}, which cannot be read ({error.strerror}); make it so, or unset it."
        ) from error


def log_store() -> str:
    """``REGROUP_LOG_STORE``: an absolute path, or ``s3://BUCKET/PREFIX?endpoint_url=…``; empty for none."""
    text = (os.environ.get("REGROUP_LOG_STORE") or "").strip()
    is_bucket = text.startswith("s3://") and bool(urlsplit(text).netloc)
    if not text or text.startswith("/") or is_bucket:
        return text
    raise BadSetting(
        f"REGROUP_LOG_STORE is {text!r}; write the absolute path of a folder, or s3://BUCKET/PREFIX."
    )


def hub_url() -> str:
    """``REGROUP_HUB_URL``: the address of the hub as nodes reach it; empty where nobody has said it."""
    text = (os.environ.get("REGROUP_HUB_URL") or "").strip().rstrip("/")
    parts = urlsplit(text)
    if not text or (parts.scheme in ("http", "https") and parts.hostname):
        return text
    raise BadSetting(f"REGROUP_HUB_URL is {text!r}; write the hub's address, such as http://hub:8000.")


def data_folder() -> Path:
    """``REGROUP_DATA`` as an absolute path, made when it is not there.

    Raises:
        BadSetting: it cannot be made.
    """
    folder = Path(os.environ.get("REGROUP_DATA") or "data").expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadSetting(
            f"REGROUP_DATA names {folder}, which cannot be made ({error.strerror}); choose another folder."
        ) from error
    return folder


def redis_url() -> str:
    """``REGROUP_REDIS_URL``, or what its ``_FILE`` holds; by default a server on this machine."""
    url = read_secret("REGROUP_REDIS_URL") or "redis://127.0.0.1:6379/0"
    try:
        check_url(url)
    except ValueError as error:
        raise BadSetting(f"REGROUP_REDIS_URL cannot be used. {error}") from error
    return url


def database(data: Path) -> dict[str, Any]:
    """Django's entry for the database: a SQLite file in the data folder, or ``REGROUP_DATABASE_URL``."""
    url, wait_s = read_secret("REGROUP_DATABASE_URL"), database_wait_s()
    return _sqlite(data / "regroup.sqlite3", wait_s) if url is None else _postgres(url, wait_s)


def database_wait_s() -> float:
    """``REGROUP_DATABASE_WAIT_S``: how long this process waits for the database before it says so."""
    text = os.environ.get("REGROUP_DATABASE_WAIT_S") or "20"
    try:
        wait_s = float(text)
    except ValueError:
        wait_s = 0.0
    if not 1 <= wait_s <= 3600:
        raise BadSetting(f"REGROUP_DATABASE_WAIT_S is {text!r}; write seconds, from 1 to 3600.")
    return wait_s


def _sqlite(path: Path, wait_s: float) -> dict[str, Any]:
    """Writers queue up: with IMMEDIATE none of them fails half-way for having read first."""
    options = {"transaction_mode": "IMMEDIATE", "timeout": wait_s, "init_command": "PRAGMA journal_mode=WAL"}
    return {"ENGINE": "webapp.sqlite", "NAME": path, "OPTIONS": options}


def _postgres(url: str, wait_s: float) -> dict[str, Any]:
    """What follows the question mark goes to libpq as it is, such as ``?sslmode=verify-full``."""
    parts = urlsplit(url)
    if parts.scheme not in _POSTGRES_SCHEMES or not parts.path.strip("/") or not _has_port(parts):
        raise BadSetting(
            "REGROUP_DATABASE_URL is no PostgreSQL address; write it as postgres://USER:PASSWORD@HOST:PORT/NAME."
        )
    return {
        "ENGINE": "webapp.postgres",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**_postgres_limits(wait_s), **dict(parse_qsl(parts.query))},
    }


def _has_port(parts: SplitResult) -> bool:
    """Or none at all, which stands for the usual one."""
    try:
        return parts.port != 0
    except ValueError:
        return False


def _postgres_limits(wait_s: float) -> dict[str, Any]:
    server = {
        "statement_timeout": f"{wait_s * 1000:.0f}ms",
        # A process that stands still with a transaction open would keep all others waiting.
        "idle_in_transaction_session_timeout": "60s",
    }
    return {
        "wait_s": wait_s,
        "connect_timeout": max(2, int(wait_s / 2)),
        "options": " ".join(f"-c {name}={value}" for name, value in server.items()),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }


def secret_key(data: Path) -> str:
    """The key that signs sessions, from ``REGROUP_SECRET_KEY_FILE``; made once when the file is not there.

    Of several processes that start at the same time one makes it, and all get the same.
    """
    path = Path(os.environ.get("REGROUP_SECRET_KEY_FILE") or data / "secret_key")
    try:
        if not path.exists():
            make_once(path, secrets.token_urlsafe(48) + "\n")
        key = path.read_text().strip()
    except OSError as error:
        raise BadSetting(
            f"The secret key in {path} cannot be read or made ({error.strerror}); "
            "make it readable, or name another file in REGROUP_SECRET_KEY_FILE."
        ) from error
    if len(key) < 32:
        raise BadSetting(
            f"The secret key in {path} is shorter than 32 characters; delete the file to get a new one."
        )
    return key


def secret_env_key_file(data: Path) -> Path:
    """``REGROUP_SECRET_ENV_KEY_FILE``: what seals jobs' secrets. See ``sealing.py``."""
    return Path(os.environ.get("REGROUP_SECRET_ENV_KEY_FILE") or data / "secret_env_key")
