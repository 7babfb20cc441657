"""Where the nodes of a job meet: who keeps the rendezvous, under which endpoint, and who has that already."""

from __future__ import annotations

from collections.abc import Sequence

from agents.wire.endpoint import Endpoint, join_endpoint, parse_endpoint
from agents.wire.rdzv import default_port, family, read_rdzv_conf
from agents.wire.spec import JobSpec, read_endpoints
from webapp.fleet.models import Node

from .models import Attempt
from .placement import Room, can_host
from .specs import spec_of

LOCAL = "127.0.0.1"


def is_hosted(spec: JobSpec) -> bool:
    """Whether a node of the job keeps the store. Otherwise it is at the endpoint already."""
    if family(spec.rdzv_backend) == "etcd":
        return False
    return read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).is_host is not False


def wanted_endpoint(spec: JobSpec) -> Endpoint | None:
    """The one that the spec names for a node of the job to host. None: Regroup picks."""
    if not spec.rdzv_endpoint or not is_hosted(spec):
        return None
    return parse_endpoint(spec.rdzv_endpoint, default_port(spec.rdzv_backend))


def endpoint_of(spec: JobSpec, node: str) -> str:
    """For the node that hosts the store. Port 0 lets its node agent pick one that is free there."""
    wanted = wanted_endpoint(spec)
    return str(wanted) if wanted else join_endpoint(local_address(spec, node), 0)


def given_endpoint(spec: JobSpec) -> str:
    """Of a store that nobody of the job hosts."""
    return ",".join(read_endpoints(spec))


def local_address(spec: JobSpec, node: str) -> str:
    """The address that the node itself gave for others to reach it."""
    if spec.standalone:
        return LOCAL
    facts = Node.objects.values_list("facts", flat=True).get(name=node)
    return str((facts.get("addresses") or [facts.get("host") or node])[0])


def say_taken(spec: JobSpec, rooms: Sequence[Room]) -> str | None:
    """Which live attempt has the endpoint that the spec names; None where it is free."""
    wanted = wanted_endpoint(spec)
    if wanted is None:
        return None
    owners = {room.node for room in rooms if can_host(room, wanted.host)}
    for attempt in Attempt.objects.filter(ended_at=None).exclude(store_host="").select_related("job"):
        held = _held_by(attempt)
        if held and held.port == wanted.port and (held.host == wanted.host or attempt.store_host in owners):
            holder = f"job {attempt.job_id} {attempt.job.name}"
            return f"rdzv_endpoint {wanted} is held by {holder} until that ends"
    return None


def _held_by(attempt: Attempt) -> Endpoint | None:
    """Before its host has told where it listens, what the spec names is as good as taken."""
    if attempt.endpoint:
        return parse_endpoint(attempt.endpoint, 0)
    return wanted_endpoint(spec_of(attempt.job))
