"""The checks of a job that was launched: what they found then, and once more for the nodes it has."""

from __future__ import annotations

from webapp.errors import Problem
from webapp.fleet.models import Node

from .check_run import CheckRun
from .check_schemas import ChecksOut, JobChecksOut
from .checks import MOST, ask
from .models import Attempt, Job, JobChecks
from .rooms import read_rooms
from .specs import spec_of

_SAYS = {
    "require": "They were required, and nothing failed.",
    "warn": "The launch went ahead whatever they would find.",
    "skip": "The launch asked for none.",
}


def keep_checks(job: Job, told: ChecksOut | None) -> None:
    if told is not None:
        JobChecks.objects.create(job=job, told=told.model_dump(mode="json"))


def job_checks_out(job: Job) -> JobChecksOut:
    asked = job.placing.get("checks", "skip")
    kept = JobChecks.objects.filter(job=job).first()
    told = ChecksOut.model_validate(kept.told) if kept else None
    says = _SAYS[asked] if kept or asked == "skip" else "What they found was not kept."
    said = " ".join(job.placing.get("checks_said", ())) if kept is None else ""
    return JobChecksOut(asked=asked, told=told, says=f"{says} {said}".strip())


def begin_again(job: Job) -> CheckRun:
    """While the job runs, its own store is what the nodes have to reach.

    Raises:
        Problem: 409 where it has no nodes that could be asked, 503 without Redis.
    """
    attempt = job.attempts.order_by("-number").first()
    nodes = _nodes_of(attempt) if attempt else []
    if attempt is None or not nodes:
        raise Problem(
            409,
            "no_nodes",
            f"Job {job.pk} {job.name} has no nodes yet, so that there is nothing to check.",
            where="job",
            what_to_do="Wait until it is placed, or check nodes where a job is launched.",
        )
    store = attempt.endpoint if attempt.ended_at is None else ""
    return ask(spec_of(job), job.placing.get("checkpoint_dir"), read_rooms(), nodes, store)


def _nodes_of(attempt: Attempt) -> list[str]:
    known = set(Node.objects.values_list("name", flat=True))
    members = attempt.members.order_by("node").values_list("node", flat=True)
    return [node for node in members if node in known][:MOST]
