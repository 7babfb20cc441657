"""Whether the stack is up: every program runs, the page answers, every node has registered."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import redis

from agents.wire import streams
from agents.wire.bus import connect

from .options import StackOptions
from .supervision import Supervisor


def _page_problem(url: str) -> str | None:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2):
            return None
    except urllib.error.HTTPError as error:
        return f"{url}/healthz answers {error.code}: {error.read(300).decode(errors='replace')}"
    except OSError as error:
        return f"{url}/healthz does not answer ({error})"


def _missing_nodes(options: StackOptions, redis_url: str) -> dict[str, str]:
    """Nodes without a lease, which a node agent renews as long as it lives."""
    client = connect(redis_url, socket_timeout=2, socket_connect_timeout=2)
    try:
        return {
            name: "it has not registered"
            for name in options.node_names
            if not client.exists(streams.lease(name))
        }
    except redis.RedisError as error:
        return {"valkey": f"it does not answer ({error})"}
    finally:
        client.close()


def find_missing(options: StackOptions, supervisor: Supervisor, redis_url: str) -> dict[str, str]:
    """Program → why it is not up yet. Empty: all is up."""
    states = supervisor.states()
    if not states:
        return {"supervisor": "it does not answer"}
    missing = {name: f"it is {state.lower()}" for name, state in states.items() if state != "RUNNING"}
    if missing:
        return missing
    problem = _page_problem(options.url)
    return {"web": problem} if problem else _missing_nodes(options, redis_url)


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log file, indented. Says so when there is none."""
    try:
        lines = log.read_text(errors="replace").splitlines()[-count:]
    except OSError:
        lines = []
    return "\n".join(f"    {line}" for line in lines) or "    (it wrote nothing)"
