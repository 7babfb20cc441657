"""Why an etcd cannot be used, when the client only knows that nobody answers: asked over a plain socket."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from dataclasses import dataclass

from ....wire.endpoint import Endpoint
from .settings import Settings, tls_context

CONNECT_S = 2.0
OLDEST = (3, 4)
_ASK = b"GET /version HTTP/1.0\r\nHost: etcd\r\n\r\n"


@dataclass(frozen=True)
class Problem:
    text: str
    passes: bool
    """Whether it may be otherwise a moment later."""


def diagnose(settings: Settings) -> Problem | None:
    """What is wrong with all of the endpoints. None: one of them looks well, or cannot be judged."""
    problems = [_look(place, settings) for place in settings.endpoints.members]
    found = [problem for problem in problems if problem is not None]
    if len(found) < len(problems):
        return None
    texts = dict.fromkeys(problem.text for problem in found)
    return Problem(" ".join(texts), passes=any(problem.passes for problem in found))


def _look(place: Endpoint, settings: Settings) -> Problem | None:
    try:
        with socket.create_connection((place.host, place.port), timeout=CONNECT_S) as connection:
            if settings.is_secure:
                return _look_over_tls(place, settings, connection)
            return _look_over_http(place, connection)
    except OSError as error:
        said = error.strerror or str(error)
        return Problem(
            f"etcd at {place} cannot be reached: {said}. See whether it runs and its port is open.",
            passes=True,
        )


def _look_over_http(place: Endpoint, connection: socket.socket) -> Problem | None:
    answer = _ask_version(connection)
    if _version_in(answer) is None and _speaks_tls(place):
        return Problem(
            f"etcd at {place} speaks TLS. Add protocol=https and ca_cert to rdzv_conf.", passes=False
        )
    return _judge_version(place, answer)


def _look_over_tls(place: Endpoint, settings: Settings, connection: socket.socket) -> Problem | None:
    try:
        with tls_context(settings).wrap_socket(connection, server_hostname=place.host) as secure:
            secure.settimeout(CONNECT_S)
            secure.sendall(_ASK)
            return _judge_version(place, _receive(secure))
    except ssl.SSLCertVerificationError as error:
        given = settings.conf.ca_cert
        trusted = f"ca_cert={given}" if given else "this machine"
        return Problem(
            f"The certificate of etcd at {place} is not one that {trusted} vouches for: "
            f"{error.verify_message}. Name the authority that signed it as ca_cert, and the server by a name "
            "that is in it.",
            passes=False,
        )
    except OSError as error:
        return _explain_tls(place, settings, error)


def _explain_tls(place: Endpoint, settings: Settings, error: OSError) -> Problem:
    if _speaks_plain_http(place):
        return Problem(
            f"etcd at {place} speaks plain http, not TLS. Leave protocol=https out of rdzv_conf.",
            passes=False,
        )
    said = str(error.reason if isinstance(error, ssl.SSLError) else error).replace("_", " ").lower()
    if "alert" in said:
        given = settings.conf.ssl_cert
        own = f"ssl_cert={given}" if given else "a client without a certificate"
        return Problem(
            f"etcd at {place} does not accept {own} ({said}). Name one that its authority has signed as "
            "ssl_cert, and its key as ssl_cert_key.",
            passes=False,
        )
    return Problem(f"etcd at {place} broke off while TLS began: {said}.", passes=True)


def _speaks_plain_http(place: Endpoint) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((place.host, place.port), CONNECT_S) as plain:
        return _ask_version(plain).startswith(b"HTTP/")
    return False


def _speaks_tls(place: Endpoint) -> bool:
    """Whoever it is: this is no time to ask for papers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((place.host, place.port), CONNECT_S) as plain,
            context.wrap_socket(plain),
        ):
            return True
    except ssl.SSLError as error:
        return "alert" in str(error).lower()
    except OSError:
        return False


def _ask_version(connection: socket.socket) -> bytes:
    connection.sendall(_ASK)
    return _receive(connection)


def _receive(connection: socket.socket) -> bytes:
    """All that comes until the other end closes, or the connection breaks after something came."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(4096):
            received += part
    return received


def _judge_version(place: Endpoint, answer: bytes) -> Problem | None:
    """Silent about whatever is not an etcd that says so: a proxy may stand before it."""
    version = _version_in(answer)
    text = say_too_old(f"etcd at {place}", version) if version else None
    return Problem(text, passes=False) if text else None


def _version_in(answer: bytes) -> str | None:
    try:
        return str(json.loads(answer.partition(b"\r\n\r\n")[2])["etcdserver"])
    except (ValueError, KeyError, TypeError):
        return None


def say_too_old(where: str, version: str) -> str | None:
    """None: that version will do."""
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers >= OLDEST:
        return None
    only = " and speaks the v2 API alone" if numbers < (3,) else ""
    return f"{where} is version {version}{only}. Version 3.4 or newer is needed."
