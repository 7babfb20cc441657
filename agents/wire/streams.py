"""Every name used in Redis. Nothing else in the project spells one out."""

from __future__ import annotations

NODES = "regroup:nodes"
"""Set of the names of all nodes that ever registered."""

EPOCH = "regroup:epoch"
"""A random word set once per data set: when it changes or vanishes, Redis lost its data."""

INGEST = "regroup:hub:ingest"
"""Ingest's own sign of life: a string that lives ``INGEST_S`` and is renewed each second."""

CELERY = "regroup:hub:celery"
"""The same of Celery: written by a task that is due every second, so it shows that the queue moves."""

SHIPPING = "regroup:hub:shipping"
"""Held by whoever brings logs into the log store, so that one at a time does."""

INGEST_S = 60

PROBE = "regroup:hub:probe"
"""Written by whoever wants to know whether Redis still takes anything."""

USAGE_S = 10
"""Seconds that a sample of a node's workers lives; its remaining time tells its age."""

LEASE_S = 10
"""Seconds that a node's lease lives without renewal. Renewed every second."""

NOT_HEARD_S = 3.0
"""Silence after which a node is called 'not heard'."""

FIELD_SOURCE, FIELD_SEQ, FIELD_BODY = "s", "q", "b"
"""Fields of an entry in a node's event stream."""


def events(node: str) -> str:
    """Stream: node -> hub. Entries hold source, seq and the record as JSON."""
    return f"regroup:node:{node}:events"


def acks(node: str) -> str:
    """Hash: source -> highest seq that the database has committed."""
    return f"regroup:node:{node}:acks"


def commands(node: str) -> str:
    """Stream: hub -> node. One command as JSON in the field ``b``."""
    return f"regroup:node:{node}:commands"


def requests(node: str) -> str:
    """List: hub -> node. One request as JSON; read-only, answered at once, never stored."""
    return f"regroup:node:{node}:requests"


def answer(request_id: str) -> str:
    """List that holds the answer to one request for a few seconds."""
    return f"regroup:answer:{request_id}"


def checks(run: str) -> str:
    """String: one run of the checks before a launch, for a quarter of an hour."""
    return f"regroup:hub:checks:{run}"


def lease(node: str) -> str:
    """String with a time to live of ``LEASE_S``; its remaining time tells the silence."""
    return f"regroup:node:{node}:lease"


def usage(node: str) -> str:
    """String: node -> hub. The newest sample of its workers as JSON; it lives ``USAGE_S``."""
    return f"regroup:node:{node}:usage"


def node_source(node: str, journal_id: str) -> str:
    """Source name of a node agent's own journal. ``journal_id`` is new with each data folder."""
    return f"node/{node}/{journal_id}"


def runner_source(attempt: str, node: str, incarnation: int) -> str:
    """Source name of one runner's journal. ``incarnation`` tells apart those of one node in one attempt."""
    return f"run/{attempt}/{node}/{incarnation}"


def keeper_source(attempt: str, node: str, incarnation: int = 1) -> str:
    """Source name of the journal of the process that keeps an attempt's store."""
    return f"keep/{attempt}/{node}/{incarnation}"


def attempt_of(source: str) -> str:
    """The attempt whose runner or store keeper writes that journal; empty for any other source."""
    parts = source.split("/")
    return parts[1] if len(parts) == 4 and parts[0] in ("run", "keep") else ""
