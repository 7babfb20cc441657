"""Nodes over HTTP, with the jobs that hold their slots: look, drain, use again."""

from __future__ import annotations

from typing import Annotated

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found
from webapp.fleet.answers import count_set_aside, node_out
from webapp.fleet.models import Node
from webapp.fleet.schemas import DrainForecast, DrainIn, NodeOut, NodePage
from webapp.pages import MOST

from .drain import drain, undrain
from .drain_forecast import forecast_drain, stores_on
from .rooms import jobs_on

router = Router(tags=["nodes"])


def _nodes() -> QuerySet[Node]:
    return Node.objects.select_related("drained_by").order_by("name")


def _node(name: str) -> Node:
    node = _nodes().filter(name=name).first()
    if node is None:
        raise not_found(f"There is no node {name}.")
    return node


def node_outs(nodes: list[Node]) -> list[NodeOut]:
    jobs = jobs_on(node.name for node in nodes)
    aside, stores = count_set_aside(), stores_on(nodes)
    return [
        node_out(node, jobs.get(node.name, []), aside.get(node.name, 0), stores.get(node.name, []))
        for node in nodes
    ]


def node_page(cursor: str | None = None, limit: int = MOST) -> NodePage:
    """Nodes in order of name; the cursor is the last name of the page before."""
    page = list(_nodes().filter(name__gt=cursor or "")[: limit + 1])
    following = page[limit - 1].name if len(page) > limit else None
    return NodePage(items=node_outs(page[:limit]), next=following)


@router.get("/nodes", response={200: NodePage, **ERRORS})
def list_nodes(
    request: HttpRequest, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=MOST)] = MOST
) -> NodePage:
    """Every machine that ever joined, whether it is heard, and what holds its slots."""
    return node_page(cursor, limit)


@router.get("/nodes/{name}/drain", response={200: DrainForecast, **ERRORS})
def look_ahead(request: HttpRequest, name: str) -> DrainForecast:
    """What would become of each job on the node if it were drained now. Nothing is done."""
    return forecast_drain(_node(name))


@router.post("/nodes/{name}/drain", response={202: NodeOut, **ERRORS})
def drain_node(request: HttpRequest, name: str, data: DrainIn | None = None) -> Status[NodeOut]:
    """Give the node no more jobs, and move those on it away. Asking twice changes nothing."""
    drain(_node(name), account_of(request), data.reason if data else "")
    return Status(202, node_outs([_node(name)])[0])


@router.post("/nodes/{name}/undrain", response={200: NodeOut, **ERRORS})
def use_again(request: HttpRequest, name: str) -> NodeOut:
    """Let the node get jobs again, whether it was drained or set aside."""
    undrain(_node(name))
    return node_outs([_node(name)])[0]
