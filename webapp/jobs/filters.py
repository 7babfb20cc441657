"""Which jobs a list shows."""

from __future__ import annotations

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact
from ninja import Schema
from pydantic import Field

from agents.wire.lifecycle import JobState
from webapp.accounts.models import Account
from webapp.errors import refuse_field

from .models import Job


class JobFilter(Schema):
    state: list[str] = Field(default_factory=list)
    """Any of these; several in one word are separated by commas."""
    q: str = ""
    """Part of the name."""
    node: str = ""
    """Jobs that ever had that node."""
    mine: bool = False
    """Only those that the account that asks has launched."""
    label: list[str] = Field(default_factory=list)
    """``NAME:VALUE``, or ``NAME`` for any value. Of several, all."""
    archived: bool = False
    """Those that were archived, in place of those that were not."""


def find_jobs(jobs: QuerySet[Job], which: JobFilter, account: Account, before: int | None) -> QuerySet[Job]:
    """Newest first, those older than the cursor. Raises a 422 ``Problem`` for an unknown state."""
    states = [state for text in which.state for state in text.split(",") if state]
    for state in states:
        _require_known(state)
    if states:
        jobs = jobs.filter(state__in=states)
    if which.q:
        jobs = jobs.filter(name__icontains=which.q)
    if which.node:
        jobs = jobs.filter(attempts__members__node=which.node).distinct()
    for label in which.label:
        jobs = _labelled(jobs, label)
    jobs = jobs.filter(archived_at__isnull=not which.archived)
    if which.mine:
        jobs = jobs.filter(created_by=account)
    return (jobs if before is None else jobs.filter(pk__lt=before)).order_by("-id")


def _labelled(jobs: QuerySet[Job], label: str) -> QuerySet[Job]:
    name, has_value, value = label.partition(":")
    if not has_value:
        return jobs.filter(labels__has_key=name)
    return jobs.filter(Exact(KeyTextTransform(name, "labels"), value))


def _require_known(state: str) -> None:
    known = [state.value for state in JobState]
    if state not in known:
        raise refuse_field("state", f"There is no state {state!r}.", f"Use {', '.join(known)}.")
