"""How many nodes a job has: what an operator asks for is a wish, and the attempt follows it by itself."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from agents.wire.lifecycle import JobState
from webapp.accounts.models import Account
from webapp.errors import Problem, refuse_field
from webapp.events.asked import note_asked, take_turn_of_events

from .apply import restand
from .locks import lock_jobs
from .models import Job, Wanted
from .news import job_changed
from .words import count


def why_not_now(job: Job) -> str:
    """Why nobody can change the number of its nodes, as a sentence. Empty: it can be asked for."""
    name = f"Job {job.id} {job.name}"
    if JobState(job.state).is_terminal:
        return f"{name} has ended: it is {job.state}."
    if job.wanted == Wanted.STOP:
        return f"{name} is being stopped."
    if job.spec.get("standalone"):
        return f"{name} is standalone: it has one node, which meets itself."
    if job.spec.get("rdzv_backend") == "static":
        return f"{name} has the static backend: its nodes and their ranks are fixed from the start."
    return ""


def why_fixed(job: Job) -> str:
    """The same for the page, which offers no choice where there is just one."""
    if not (why := why_not_now(job)) and job.min_nodes == job.max_nodes:
        return f"nnodes is {job.min_nodes}, so that the number of nodes is fixed."
    return why


@transaction.atomic
def scale(job: Job, account: Account, nodes: int, reason: str) -> Job:
    """Want that many nodes. The same number again changes nothing.

    Raises:
        Problem: 409 when the number is fixed or the job is over; 422 outside of its ``nnodes``.
    """
    take_turn_of_events()
    lock_jobs([job.id])
    job = Job.objects.get(pk=job.id)
    if why := why_not_now(job):
        raise Problem(
            409, "not_scalable", why, where="job", what_to_do="Launch a new job for another number."
        )
    _require_within(job, nodes)
    before = job.wanted_nodes
    if nodes == before:
        return job
    Job.objects.filter(pk=job.id).update(
        nodes_wanted=nodes,
        nodes_wanted_why=say_scaled(before, nodes, account.username, reason),
        version=F("version") + 1,
    )
    _note(job, before, nodes, account, reason)
    restand(job.id)
    job_changed(job.id)
    return Job.objects.get(pk=job.id)


def say_scaled(before: int, nodes: int, by: str, reason: str) -> str:
    way = "up" if nodes > before else "down"
    why = f": {reason.strip().rstrip('.')}" if reason.strip() else ""
    return f"scaled {way} from {before} to {count(nodes, 'node')} by {by}{why}"


def _require_within(job: Job, nodes: int) -> None:
    low, high = job.min_nodes, job.max_nodes
    if low <= nodes <= high:
        return
    allowed = f"exactly {count(low, 'node')}" if low == high else f"{low} to {high} nodes"
    raise refuse_field(
        "nodes",
        f"{count(nodes, 'node')} cannot be had: job {job.id} {job.name} runs on {allowed}.",
        "Launch a new job for another number." if low == high else f"Write a number from {low} to {high}.",
    )


def _note(job: Job, before: int, nodes: int, account: Account, reason: str) -> None:
    attempt = job.attempts.order_by("-number").first()
    if attempt is not None:
        said = {"by": account.username, "before": before, "nodes": nodes, "reason": reason}
        note_asked("scale_asked", attempt.id, "", said)
