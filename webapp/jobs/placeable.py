"""Refuses a launch for which no node will ever do: it would wait for ever."""

from __future__ import annotations

from django.conf import settings

from agents.wire.environments import environment_of
from agents.wire.spec import JobSpec, parse_nnodes, slots_needed
from webapp.accounts.models import Account
from webapp.errors import refuse_field
from webapp.fleet.models import Node

from .rooms import offered_by
from .schemas import JobIn
from .words import are, count, listed


def require_placeable(account: Account, data: JobIn, spec: JobSpec) -> None:
    """Raises:
    Problem: 422 naming the field.
    """
    low = spec.nodes or parse_nnodes(spec.nnodes)[0]
    _require_named(data.node_names, low)
    _require_offered(environment_of(spec.python))
    _require_share(account, low, slots_needed(spec))


def _require_named(names: list[str], low: int) -> None:
    if not names:
        return
    known = set(Node.objects.filter(name__in=names).values_list("name", flat=True))
    if unknown := sorted(set(names) - known):
        raise refuse_field(
            "node_names",
            f"{are(unknown)} not among the nodes that have joined.",
            "Name nodes as the page of the nodes has them, or none for any.",
        )
    if len(known) < low:
        raise refuse_field(
            "node_names",
            f"{count(low, 'node')} {'is' if low == 1 else 'are'} needed, and {listed(sorted(known))} "
            f"{'is' if len(known) == 1 else 'are'} all that may be used.",
            "Name more nodes, or none for any.",
        )


def _require_offered(name: str) -> None:
    """A node that offers it may be away or full now; but one that is not known is rather written wrongly."""
    nodes = list(Node.objects.only("name", "facts")) if name else []
    offered = {one for node in nodes for one in offered_by(node.facts)}
    if not nodes or name in offered:
        return
    raise refuse_field(
        "python",
        f"No node offers an environment {name}.",
        f"Name one of {', '.join(sorted(offered))}, or write a path."
        if offered
        else f"Start node agents with --environment {name}=/path/to/python, or write a path.",
    )


def _require_share(account: Account, low: int, slots: int) -> None:
    most = settings.USER_SLOTS
    if most and low * slots > most:
        raise refuse_field(
            "nnodes",
            f"The job needs {low * slots} slots at least, and {account.username} may use {most} at a time.",
            "Launch a smaller one, or have REGROUP_USER_SLOTS raised.",
        )
