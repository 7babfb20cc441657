"""What python-etcd3 and gRPC raise, said in one type and one sentence. Pure."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Kind(Enum):
    SILENT = "nobody answers, or the cluster has no leader; passes"
    STALE = "the client's login has expired; a new client is all it takes"
    LEASE_GONE = "the keys' lease has lapsed"
    LEASE_THERE = "somebody else was quicker to make the keys' lease"
    FULL = "its space alarm is on; somebody has to see to it"
    REFUSED = "it will never do that for us"


class EtcdError(Exception):
    """etcd could not be used. The text is for the operator."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


_BY_DETAIL = (
    ("requested lease not found", Kind.LEASE_GONE, "{where} knows the lease of the attempt's keys no more"),
    ("lease already exists", Kind.LEASE_THERE, "{where} has that lease already"),
    (
        "database space exceeded",
        Kind.FULL,
        "{where} refuses all writes, as its space alarm (NOSPACE) is on. Compact and defragment it, then "
        "`etcdctl alarm disarm`; --auto-compaction-retention keeps it from filling again",
    ),
    (
        "authentication failed",
        Kind.REFUSED,
        "{where} refuses the user or the password. Correct user and password in rdzv_conf",
    ),
    (
        "user name is empty",
        Kind.REFUSED,
        "{where} asks who is there. Write user and password in rdzv_conf",
    ),
    (
        "authentication is not enabled",
        Kind.REFUSED,
        "{where} has no users, as its authentication is off. Leave user and password out of rdzv_conf",
    ),
    ("invalid auth token", Kind.STALE, "{where} has forgotten this client's login"),
    ("revision of auth store is old", Kind.STALE, "{where} has changed its users"),
    (
        "permission denied",
        Kind.REFUSED,
        "{where} does not let this user at the keys. Grant it readwrite on the prefix {prefix}/",
    ),
    ("unknown service", Kind.REFUSED, "{where} does not know etcd's v3 API. etcd 3.4 or newer is needed"),
)
_BY_CODE = {
    "UNAVAILABLE": Kind.SILENT,
    "DEADLINE_EXCEEDED": Kind.SILENT,
    "CANCELLED": Kind.SILENT,
    "INTERNAL": Kind.SILENT,
    "UNKNOWN": Kind.SILENT,
    "RESOURCE_EXHAUSTED": Kind.SILENT,
    "UNAUTHENTICATED": Kind.STALE,
}


def understand(error: Exception, where: str, prefix: str) -> EtcdError | None:
    """None: it has nothing to do with etcd, and is a fault of ours."""
    code, detail = _code_and_detail(error)
    if code is None:
        return None
    for text, kind, sentence in _BY_DETAIL:
        if text in detail:
            return EtcdError(kind, sentence.format(where=where, prefix=prefix) + ".")
    kind = _BY_CODE.get(code, Kind.REFUSED)
    verb = "does not answer" if kind is Kind.SILENT else "refuses"
    return EtcdError(kind, f"{where} {verb}: {detail or code}.")


def _code_and_detail(error: Exception) -> tuple[str | None, str]:
    if type(error).__name__ == "WatchTimedOut":
        return "DEADLINE_EXCEEDED", "no watch was opened in time"
    if isinstance(error, ValueError) and "closed channel" in str(error):
        return "CANCELLED", "the connection was given up"
    # python-etcd3 puts a bare exception of its own over what the server said.
    for one in (error, error.__context__):
        if callable(getattr(one, "code", None)) and callable(getattr(one, "details", None)):
            rpc: Any = one
            return rpc.code().name, str(rpc.details() or "").removeprefix("etcdserver: ").rstrip(".")
    return None, ""
