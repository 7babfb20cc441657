"""Nodes over HTTP, with the jobs that hold their slots."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from webapp.errors import ERRORS
from webapp.fleet.answers import count_set_aside, node_out
from webapp.fleet.models import Node
from webapp.fleet.schemas import NodeOut, NodePage
from webapp.pages import MOST

from .rooms import jobs_on

router = Router(tags=["nodes"])


def node_outs(nodes: list[Node]) -> list[NodeOut]:
    jobs = jobs_on(node.name for node in nodes)
    aside = count_set_aside()
    return [node_out(node, jobs.get(node.name, []), aside.get(node.name, 0)) for node in nodes]


def node_page(cursor: str | None = None, limit: int = MOST) -> NodePage:
    """Nodes in order of name; the cursor is the last name of the page before."""
    page = list(Node.objects.filter(name__gt=cursor or "").order_by("name")[: limit + 1])
    following = page[limit - 1].name if len(page) > limit else None
    return NodePage(items=node_outs(page[:limit]), next=following)


@router.get("/nodes", response={200: NodePage, **ERRORS})
def list_nodes(
    request: HttpRequest, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=MOST)] = MOST
) -> NodePage:
    """Every machine that ever joined, whether it is heard, and what holds its slots."""
    return node_page(cursor, limit)
