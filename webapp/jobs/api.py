"""Jobs over HTTP: launch, list, look, scale, stop, and what happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router, Status
from pydantic import AwareDatetime, Field

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found
from webapp.events.answers import event_page
from webapp.events.schemas import EventPage
from webapp.fleet.answers import command_out
from webapp.fleet.models import Command
from webapp.fleet.schemas import CommandPage
from webapp.moment import one_moment
from webapp.pages import LIMIT, MOST, read_cursor

from .answers import job_out, job_summaries
from .checks import check_first
from .curves import curve_out
from .example import example_job
from .filters import JobFilter, find_jobs
from .job_checks import keep_checks
from .log_download import download_log
from .log_questions import LogQuestion, StreamChoice
from .log_schemas import LogPage, StreamWord
from .logs import read_log
from .metrics_answer import MetricsQuestion, metrics_out
from .metrics_schemas import MetricsOut
from .models import Job
from .rank_lanes import rank_lanes_out
from .scale import scale
from .schemas import JobIn, JobOut, JobPage, ScaleIn, StopIn
from .services import create_job, stop_job
from .story import stories
from .timeline import timeline_out
from .timeline_schemas import CurveOut, RankLanesOut, TimelineOut, WaterfallOut
from .waterfall_answer import waterfall_out

router = Router(tags=["jobs"])

Limit = Annotated[int, Query(ge=1, le=MOST)]


def _jobs() -> QuerySet[Job]:
    return Job.objects.select_related("created_by", "stopped_by")


def _job(job_id: int) -> Job:
    job = _jobs().filter(pk=job_id).first() if job_id < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {job_id}.")
    return job


@router.post("/jobs", response={201: JobOut, **ERRORS})
def launch(request: HttpRequest, data: JobIn) -> Status[JobOut]:
    """Launch a job. It is queued until nodes with room are found, and checked first if it asks for that."""
    checked = check_first(account_of(request), data)
    job = create_job(account_of(request), data, checked.said)
    keep_checks(job, checked.told)
    return Status(201, job_out(_job(job.id)))


@router.get("/jobs", response={200: JobPage, **ERRORS})
def list_jobs(
    request: HttpRequest, which: Query[JobFilter], cursor: str | None = None, limit: Limit = LIMIT
) -> JobPage:
    """Jobs, newest first. ``next`` of the answer is the ``cursor`` of the next page."""
    found = find_jobs(_jobs(), which, account_of(request), read_cursor(cursor))
    page = list(found[: limit + 1])
    following = str(page[limit - 1].id) if len(page) > limit else None
    return JobPage(items=job_summaries(page[:limit]), next=following)


@router.get("/jobs/{id}", response={200: JobOut, **ERRORS})
def look_at(request: HttpRequest, id: int) -> JobOut:
    """All that is known of a job now."""
    with one_moment():
        job = _job(id)
        return job_out(job, stories.of(job))


@router.post("/jobs/{id}/stop", response={200: JobOut, **ERRORS})
def stop(request: HttpRequest, id: int, data: StopIn | None = None) -> JobOut:
    """Stop a job on all its nodes. Asking twice changes nothing, unless it is to be forced now."""
    data = data or StopIn()
    job = stop_job(_job(id), account_of(request), data.reason, force=data.force)
    return job_out(_job(job.id))


@router.post("/jobs/{id}/scale", response={202: JobOut, **ERRORS})
def change_nodes(request: HttpRequest, id: int, data: ScaleIn) -> Status[JobOut]:
    """Want another number of nodes, within nnodes. ``nodes.wanted`` says so at once; the others follow."""
    job = scale(_job(id), account_of(request), data.nodes, data.reason)
    return Status(202, job_out(_job(job.id)))


@router.get("/jobs/{id}/commands", response={200: CommandPage, **ERRORS})
def list_commands(
    request: HttpRequest, id: int, cursor: str | None = None, limit: Limit = LIMIT
) -> CommandPage:
    """Everything that was asked of nodes for this job, newest first."""
    before = read_cursor(cursor)
    commands = Command.objects.filter(job=_job(id).id).select_related("by").order_by("-created_at", "-id")
    start = before or 0
    page = list(commands[start : start + limit + 1])
    following = str(start + limit) if len(page) > limit else None
    return CommandPage(items=[command_out(command) for command in page[:limit]], next=following)


@router.get("/jobs/{id}/timeline", response={200: TimelineOut, **ERRORS})
def timeline(request: HttpRequest, id: int, attempt: int | None = None) -> TimelineOut:
    """A lane for each node: rounds, phases, and marks for what happened. All attempts, or one."""
    with one_moment():
        return timeline_out(_job(id), attempt)


@router.get("/jobs/{id}/timeline/ranks", response={200: RankLanesOut, **ERRORS})
def rank_lanes(
    request: HttpRequest,
    id: int,
    node: Annotated[list[str], Query(min_length=1)],
    attempt: int | None = None,
) -> RankLanesOut:
    """A lane for each rank of the named nodes: its workers, and how each ended. All attempts, or one."""
    return rank_lanes_out(_job(id), node, attempt)


@router.get("/jobs/{id}/progress", response={200: CurveOut, **ERRORS})
def progress(request: HttpRequest, id: int, points: Annotated[int, Query(ge=2, le=2000)] = 400) -> CurveOut:
    """How step and metrics of rank 0 went over time, over all attempts; about that many points."""
    return curve_out(_job(id), points)


@router.get("/jobs/{id}/metrics", response={200: MetricsOut, **ERRORS})
def metrics(
    request: HttpRequest,
    id: int,
    names: Annotated[list[str], Query(default_factory=list, max_length=100)],
    attempt: int | None = None,
    begin: Annotated[AwareDatetime | None, Query(alias="from")] = None,
    end: Annotated[AwareDatetime | None, Query(alias="to")] = None,
    points: Annotated[int, Query(ge=2, le=2000)] = 400,
) -> MetricsOut:
    """What ranks reported, as minimum, mean and maximum over them, round by round; extremes are kept.

    Without ``names`` all of the job's own; ``names`` of the answer lists torch's too.
    """
    return metrics_out(_job(id), MetricsQuestion(names, attempt, begin, end, points))


@router.get("/jobs/{id}/attempts/{attempt}/rounds/{number}/waterfall", response={200: WaterfallOut, **ERRORS})
def waterfall(request: HttpRequest, id: int, attempt: int, number: int) -> WaterfallOut:
    """How each node and each rank came into that round, phase by phase."""
    return waterfall_out(_job(id), attempt, number)


@router.get("/jobs/{id}/events", response={200: EventPage, **ERRORS})
def list_events(request: HttpRequest, id: int, after: str | None = None, limit: Limit = LIMIT) -> EventPage:
    """Records of this job's runners, oldest first. Give ``next`` as ``after`` to go on."""
    attempts = list(_job(id).attempts.values_list("id", flat=True))
    return event_page(attempts, read_cursor(after, "after") or 0, limit)


@router.get("/jobs/{id}/logs", response={200: LogPage, **ERRORS})
def log_lines(
    request: HttpRequest,
    id: int,
    attempt: int | None = None,
    round: int | None = None,
    rank: Annotated[int, Field(ge=0)] | Literal["all"] | None = None,
    stream: StreamChoice = "stdout",
    before: str | None = None,
    after: str | None = None,
    at: datetime | None = None,
    q: str | None = None,
    case: bool = False,
    limit: Limit = 200,
) -> LogPage:
    """Lines of workers' output, read on their nodes: the last ones, or those next to a place or a time.

    Without ``rank`` it is rank 0; with ``rank=all`` or ``stream=both`` lines are merged by time. ``q``: the
    newest lines in which that regular expression is found, of all ranks unless one is named.
    """
    everybody = rank == "all" or (rank is None and bool(q))
    question = LogQuestion(
        attempt=attempt,
        round=round,
        rank=None if everybody else int(rank or 0),
        stream=stream,
        before=before or None,
        after=after or None,
        at=None if at is None else at if at.tzinfo else at.replace(tzinfo=UTC),
        limit=limit,
        pattern=q or None,
        is_case_sensitive=case,
    )
    return read_log(_job(id), question)


@router.get("/jobs/{id}/logs/download", response=ERRORS)
def log_file(
    request: HttpRequest,
    id: int,
    attempt: int | None = None,
    round: int | None = None,
    rank: Annotated[int, Query(ge=0)] = 0,
    stream: StreamWord = "stdout",
    gz: bool = False,
) -> HttpResponseBase:
    """One worker's stream as a file, as far as it has been written; with ``gz=true`` compressed."""
    question = LogQuestion(attempt, round, rank, stream, None, None, None, 1)
    return download_log(_job(id), question, gz)


@router.get("/example", response={200: JobIn | None, **ERRORS})
def example(request: HttpRequest) -> JobIn | None:
    """A job to try first, with paths of this machine; null where the examples are not at hand."""
    return example_job(settings.EXAMPLES_DIR, settings.DATA)
