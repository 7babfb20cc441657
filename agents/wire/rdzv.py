"""Rendezvous backends and their ``rdzv_conf``, in torchrun's words. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from .endpoint import C10D_PORT, ETCD_PORT, STATIC_PORT

BACKENDS = ("c10d", "etcd", "etcd-v3", "static")
ETCD = frozenset({"etcd", "etcd-v3"})
"""Two names for one thing: etcd's v3 API."""
NOT_V2 = (
    "etcd-v2 needs etcd's v2 API, which is off since etcd 3.4 and gone in 3.6. Write etcd-v3, or etcd, "
    "which is the same here."
)
_TRUE, _FALSE = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")


class ConfError(ValueError):
    """A key that is not known, or a value that cannot be. The text names it and says what to write."""


@dataclass(frozen=True, kw_only=True)
class RdzvConf:
    """``rdzv_conf`` read. Times in whole seconds."""

    join_timeout: int = 600
    """How long a node waits for a round to form, what keeps the rendezvous to be reached included."""
    last_call_timeout: int = 30
    """How long a round with enough nodes waits for assigned ones that are missing."""
    close_timeout: int = 30
    heartbeat_timeout: int = 5
    keep_alive_interval: int = 1
    keep_alive_max_attempt: int = 3
    read_timeout: int = 20
    """How long an answer from the store, or from another node in a round, may take."""
    is_host: bool | None = None
    """False: nobody of the job hosts the store; it is at ``rdzv_endpoint`` already."""
    store_type: str = "tcp"
    protocol: str = "http"
    ca_cert: str = ""
    ssl_cert: str = ""
    ssl_cert_key: str = ""
    """Paths on the nodes."""
    user: str = ""
    password: str = ""
    etcd_prefix: str = "/torch/elastic"
    """The keys of an attempt are under ``<prefix>/<attempt>/``."""


PASSWORD = "REGROUP_RDZV_PASSWORD"
"""The variable in which a runner is told the password of ``rdzv_conf``, which its start message lacks."""

_DYNAMIC = (
    "join_timeout",
    "last_call_timeout",
    "close_timeout",
    "heartbeat_timeout",
    "keep_alive_interval",
    "keep_alive_max_attempt",
    "read_timeout",
)
_TEXTS = ("protocol", "ca_cert", "ssl_cert", "ssl_cert_key", "user", "password", "etcd_prefix")
_KEYS = {
    "c10d": (*_DYNAMIC, "is_host", "store_type"),
    "static": (*_DYNAMIC, "timeout"),
    "etcd": (*_DYNAMIC, "timeout", *_TEXTS, "cacert", "cert", "key"),
}
_SAME = {"timeout": "join_timeout", "cacert": "ca_cert", "cert": "ssl_cert", "key": "ssl_cert_key"}
"""What torch's older backends call it."""
_REASONS = {
    ("c10d", "timeout"): "which c10d ignores. Write join_timeout",
    ("static", "rank"): "which differs by node. Regroup gives the ranks, in the order of the nodes' names",
}


def family(backend: str) -> str:
    """``etcd`` for both of its names."""
    return "etcd" if backend in ETCD else backend


def default_port(backend: str) -> int:
    """Where the port is left out of ``rdzv_endpoint``."""
    return {"etcd": ETCD_PORT, "static": STATIC_PORT}.get(family(backend), C10D_PORT)


def read_rdzv_conf(conf: dict[str, str], backend: str = "c10d") -> RdzvConf:
    """Raises ``ConfError`` naming the key that is not known to that backend or whose value cannot be."""
    values: dict[str, int | bool | str] = {}
    for key, text in conf.items():
        _require_known(key, family(backend))
        name = _SAME.get(key, key)
        if name in values:
            raise ConfError(f"rdzv_conf has {name} under two names. Leave one of them out.")
        values[name] = _read(key, name, str(text).strip())
    return RdzvConf(**values)  # type: ignore[arg-type]


def _require_known(key: str, backend: str) -> None:
    if key in _KEYS[backend]:
        return
    if reason := _REASONS.get((backend, key)):
        raise ConfError(f"rdzv_conf has {key}, {reason}.")
    raise ConfError(
        f"rdzv_conf has {key!r}, which {backend} does not know. It knows {', '.join(_KEYS[backend])}."
    )


def _read(key: str, name: str, text: str) -> int | bool | str:
    if name == "is_host":
        return _read_boolean(key, text)
    if name in ("store_type", "protocol"):
        return _read_word(key, text.lower(), ("tcp",) if name == "store_type" else ("http", "https"))
    if name in _TEXTS:
        return text
    if text.isdigit() and int(text) > 0:
        return int(text)
    raise ConfError(f"rdzv_conf has {key}={text}. Write whole seconds or times, 1 or more.")


def _read_boolean(key: str, text: str) -> bool:
    if text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    raise ConfError(f"rdzv_conf has {key}={text}. Write true or false.")


def _read_word(key: str, text: str, words: tuple[str, ...]) -> str:
    if text in words:
        return text
    raise ConfError(f"rdzv_conf has {key}={text}. This version runs {' and '.join(words)}.")
