"""The node's copies of uploaded code, by digest: fetched from the hub, verified, and used again.

A copy is hashed before each use, so that one which a full disk or anything else has spoilt is fetched anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

from ..wire.code import MOST_BYTES, TICKET, CodeSource, is_digest
from .outcome import Failed, Refused

SOCKET_S = 10.0
"""Within which a hub that is there says something."""
TRIES, PAUSE_S = 4, 2.0
"""A hub that is being restarted is back within seconds."""
_PIECE = 1 << 16
_HOME = "code"


class _NoAnswer(Exception):
    """The hub cannot be reached now, or does not answer as it should; trying again may help."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """The ticket goes to the hub alone."""

    def redirect_request(self, *_: object) -> None:
        return None


# Whatever proxy the machine has for the world outside, the hub is inside.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)


def fetch(source: CodeSource, data: Path, node: str, hub_url: str | None, within_s: float) -> Path:
    """The node's copy of that code.

    Raises:
        Refused: it cannot be had so. The text says from where, and what to do.
        Failed: the hub does not answer.
        OSError: the disk does not take it.
    """
    if not is_digest(source.digest):
        raise Refused(f"The digest of the code is {source.digest!r}, which is none.")
    path = data / _HOME / f"{source.digest}.zip"
    if _digest_of(path) == source.digest:
        os.utime(path)
        return path
    hub = (hub_url or source.hub).rstrip("/")
    if not hub:
        raise Refused(
            f"{node} does not know where the hub is, which has the code. Set REGROUP_HUB_URL on the hub to "
            "its address as nodes reach it, or start the node agent with --hub."
        )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _fetch(f"{hub}{source.path}", source, path, node, time.monotonic() + within_s)
    return path


def _digest_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _fetch(url: str, source: CodeSource, path: Path, node: str, deadline: float) -> None:
    """Written aside, and renamed once it is what was asked for."""
    aside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        why = _read_patiently(url, source.ticket, aside, node, deadline)
        if why:
            raise Failed(
                f"{node} could not fetch the job's code from {url}: {why} Look whether {node} reaches the "
                "hub there; REGROUP_HUB_URL on the hub, or --hub of the node agent, says where it is."
            )
        found = _digest_of(aside)
        if found != source.digest:
            raise Refused(
                f"What {node} was given at {url} is not the job's code: its digest is {found}. "
                "Look what answers there, and upload the code again."
            )
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _read_patiently(url: str, ticket: str, aside: Path, node: str, deadline: float) -> str:
    """Why it could not be read; empty once it is."""
    why = ""
    for attempt in range(TRIES):
        if attempt and time.monotonic() + PAUSE_S > deadline:
            break
        if attempt:
            time.sleep(PAUSE_S)
        try:
            _read(url, ticket, aside, node, deadline)
            return ""
        except _NoAnswer as error:
            why = str(error)
    return why


def _read(url: str, ticket: str, aside: Path, node: str, deadline: float) -> None:
    request = urllib.request.Request(url, headers={TICKET: ticket})
    timeout = max(0.5, min(SOCKET_S, deadline - time.monotonic()))
    try:
        with _OPENER.open(request, timeout=timeout) as answer, _private(aside) as file:
            _copy(answer, file, url, node, deadline)
    except urllib.error.HTTPError as error:
        raise _refusal(error, url, node) from error
    except urllib.error.URLError as error:
        raise _NoAnswer(f"{getattr(error.reason, 'strerror', None) or error.reason}.") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _NoAnswer(f"{error or type(error).__name__}.") from error


def _private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _copy(answer: IO[bytes], file: IO[bytes], url: str, node: str, deadline: float) -> None:
    size = 0
    while piece := answer.read(_PIECE):
        size += len(piece)
        if size > MOST_BYTES:
            raise Refused(
                f"What {node} was given at {url} is larger than {MOST_BYTES >> 20} MiB, the most for code. "
                "Look what answers there."
            )
        if time.monotonic() > deadline:
            raise _NoAnswer(f"only {size >> 10} KiB had come when the time for it was over.")
        file.write(piece)


def _refusal(error: urllib.error.HTTPError, url: str, node: str) -> Exception:
    if error.code >= 500:
        return _NoAnswer(f"it answers with status {error.code}.")
    if error.code == 404:
        return Refused(
            f"The hub at {url} does not have the job's code any more. Upload it again, and launch anew."
        )
    if error.code == 400:
        return Refused(
            f"The hub at {url} does not answer under that name. Add it to REGROUP_ALLOWED_HOSTS on the hub."
        )
    if error.code in (401, 403):
        return Refused(
            f"The hub at {url} does not let {node} have the job's code. Stop the job, and launch it anew."
        )
    return Refused(
        f"{node} asked {url} for the job's code, and got status {error.code}. Look whether "
        "REGROUP_HUB_URL on the hub, or --hub of the node agent, is the hub's address."
    )


def forget_copies(data: Path, older_than_s: float) -> None:
    """Remove copies that were not used for so long, and what a node agent that was killed has left."""
    for path in (data / _HOME).glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime >= older_than_s:
                path.unlink()
