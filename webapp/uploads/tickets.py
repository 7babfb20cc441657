"""Tickets with which a node fetches one upload: signed by the hub, bound to both, and good for an hour."""

from __future__ import annotations

from django.core import signing
from django.http import HttpRequest
from ninja.security import APIKeyHeader

from agents.wire.code import TICKET

GOOD_FOR_S = 3600
_SALT = "webapp.uploads.tickets"


def make_ticket(digest: str, node: str) -> str:
    return signing.dumps({"digest": digest, "node": node}, salt=_SALT)


def node_of(ticket: str, digest: str) -> str | None:
    """Whose ticket it is. None: it is none, of another upload, or too old."""
    try:
        said = signing.loads(ticket, salt=_SALT, max_age=GOOD_FOR_S)
    except signing.BadSignature:
        return None
    return str(said["node"]) if said["digest"] == digest else None


class TicketAuth(APIKeyHeader):
    """For an endpoint whose path ends with ``DIGEST/content``."""

    param_name = TICKET

    def authenticate(self, request: HttpRequest, key: str | None) -> str | None:
        digest = request.path.rstrip("/").split("/")[-2]
        return node_of(key, digest) if key else None
