"""What the topics of the live socket hold: the same answers that the API gives."""

from __future__ import annotations

import json
from typing import Any

from channels.db import database_sync_to_async
from ninja.responses import NinjaJSONEncoder
from pydantic import BaseModel

from webapp.jobs.answers import job_out, job_summaries
from webapp.jobs.models import Job
from webapp.jobs.nodes_api import node_page
from webapp.jobs.story import stories
from webapp.moment import one_moment
from webapp.pages import LIMIT

from .notify import JOBS_GROUP, NODES_GROUP, job_group

Json = dict[str, Any]


class UnknownTopic(ValueError):
    """There is no such topic. The text is a whole sentence."""


def group_of(topic: str) -> str:
    """The channel layer's group behind a topic. Raises ``UnknownTopic``."""
    if topic == "jobs":
        return JOBS_GROUP
    if topic == "nodes":
        return NODES_GROUP
    kind, _, number = topic.partition(":")
    if kind == "job" and number.isascii() and number.isdecimal() and len(number) < 19:
        return job_group(int(number))
    raise UnknownTopic(f"There is no topic {topic!r}. Topics are jobs, nodes and job:NUMBER.")


@database_sync_to_async
def read_topic(topic: str) -> tuple[int | None, Json]:
    """(version, data) of a topic now. Raises ``UnknownTopic`` for a job that is not there."""
    if topic == "jobs":
        return None, _jobs()
    if topic == "nodes":
        return None, _plain(node_page())
    with one_moment():
        return _job(int(topic.partition(":")[2]))


def _job(job_id: int) -> tuple[int, Json]:
    job = Job.objects.select_related("created_by", "stopped_by").filter(pk=job_id).first()
    if job is None:
        raise UnknownTopic(f"There is no job {job_id}.")
    return job.version, _plain(job_out(job, stories.of(job)))


def _jobs() -> Json:
    listed = Job.objects.filter(archived_at=None)
    found = list(listed.select_related("created_by").order_by("-id")[: LIMIT + 1])
    items = [_plain(summary) for summary in job_summaries(found[:LIMIT])]
    return {"items": items, "next": str(found[LIMIT - 1].id) if len(found) > LIMIT else None}


def _plain(answer: BaseModel) -> Json:
    """The same JSON as the API's, whose encoder gives times in milliseconds."""
    plain: Json = json.loads(json.dumps(answer.model_dump(by_alias=True), cls=NinjaJSONEncoder))
    return plain
