"""Whether the place where nodes would meet can be reached: one listens there for a minute, all connect."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from ...wire.checks import CheckNode, Finding, Verdict
from ...wire.endpoint import parse_endpoint
from ..outcome import Refused
from ..store_socket import bind_at

OPEN_S = 60.0
CONNECT_S = 3.0

_open: dict[str, socket.socket] = {}
"""By the run of the checks."""
_lock = threading.Lock()


def listen(request: CheckNode, node: str) -> tuple[list[Finding], str]:
    """Findings, and where it listens; both empty where the node is not to keep the store."""
    if not request.endpoint:
        return [], ""
    try:
        at, listener = bind_at(request.endpoint, request.local_addr, node)
        listener.listen()
    except (Refused, OSError) as error:
        says, _, what_to_do = str(error).partition(". ")
        return [_finding("fail", says, what_to_do or "Choose another rdzv_endpoint.")], ""
    with _lock:
        _open[request.run] = listener
    threading.Thread(target=_greet, args=(listener, request.run), name="check", daemon=True).start()
    return [], at


def _greet(listener: socket.socket, run: str) -> None:
    """Let everybody in and out again, until it is closed or a minute is over."""
    end = time.monotonic() + OPEN_S
    listener.settimeout(1.0)
    while time.monotonic() < end:
        try:
            listener.accept()[0].close()
        except TimeoutError:
            continue
        except OSError:
            break
    stop(run)


def stop(run: str) -> None:
    with _lock:
        listener = _open.pop(run, None)
    if listener is not None:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def reach(request: CheckNode, node: str) -> list[Finding]:
    """Several endpoints are members of one store: one of them is enough."""
    if not request.endpoint:
        return []
    failed = {}
    places = request.endpoint.split(",")
    for place in places:
        if (why := _try(place)) is not None:
            failed[place] = why
    if not failed:
        return [_finding("ok", f"{node} reaches {request.endpoint}.")]
    verdict: Verdict = "fail" if len(failed) == len(places) else "warn"
    whys = "; ".join(f"{place}: {why}" for place, why in failed.items())
    what = (
        "Look whether a firewall, another network interface or a wrong --address of the node agent is in the "
        "way, and whether the store runs if it is yours."
    )
    return [_finding(verdict, f"{node} does not reach {whys}.", what)]


def _try(place: str) -> str | None:
    try:
        where = parse_endpoint(place, 0)
        socket.create_connection((where.host, where.port), timeout=CONNECT_S).close()
    except TimeoutError:
        return f"no answer within {CONNECT_S:.0f} s"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    except ValueError as error:
        return str(error).rstrip(".")
    return None


def _finding(verdict: Verdict, says: str, what_to_do: str = "") -> Finding:
    says = says if says.endswith(".") else f"{says}."
    return Finding(check="endpoint", verdict=verdict, says=says, what_to_do=what_to_do)
