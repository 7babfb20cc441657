"""The one Redis of Regroup, in the words of the two libraries that use it beside us. Pure."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from agents.wire.bus import Watched, read_watched


def layer_host(url: str) -> dict[str, Any]:
    """For Channels: an entry of ``hosts``. Without a word redis-py 8 gives up idle connections after 5 s."""
    watched = read_watched(url)
    if watched is None:
        return {"address": url, "socket_timeout": None}
    return {
        "sentinels": list(watched.sentinels),
        "master_name": watched.master,
        "sentinel_kwargs": {"socket_connect_timeout": 2, **watched.sentinel_credentials},
        "db": watched.db,
        "socket_timeout": None,
        **watched.credentials,
    }


def broker_url(url: str) -> str:
    """For Celery: each sentinel is an address of its own."""
    watched = read_watched(url)
    if watched is None:
        return url
    login = _login(watched)
    return ";".join(f"sentinel://{login}{host}:{port}/{watched.db}" for host, port in watched.sentinels)


def _login(watched: Watched) -> str:
    if not watched.password:
        return ""
    return f"{quote(watched.username or '', safe='')}:{quote(watched.password, safe='')}@"


def broker_options(url: str) -> dict[str, Any]:
    """What Celery's transport must know besides."""
    watched = read_watched(url)
    if watched is None:
        return {}
    return {
        "master_name": watched.master,
        "sentinel_kwargs": {"socket_connect_timeout": 2, **watched.sentinel_credentials},
    }
