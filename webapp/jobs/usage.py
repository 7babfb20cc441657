"""What the workers of a job use now, for its page."""

from __future__ import annotations

from agents.wire.usage import WorkerUsage

from .facts import facts_of
from .models import Attempt, Job
from .samples import Sample, read_samples
from .situation import JobFacts
from .stall_schemas import UsageOut, WorkerUsageOut
from .stall_views import is_up, views_of
from .stalls import find_stragglers


def usage_out(job: Job) -> UsageOut:
    """Of the newest attempt."""
    attempt = job.attempts.order_by("-number").first()
    facts = facts_of(job)
    if attempt is None or facts.newest is None or attempt.ended_at is not None:
        return UsageOut(round=None, workers=[], silent=[], stragglers=[])
    return _usage(attempt, facts)


def _usage(attempt: Attempt, facts: JobFacts) -> UsageOut:
    assert facts.newest is not None
    samples = read_samples(member.node for member in facts.in_newest)
    told = [
        _worker(worker, sample)
        for sample in samples.values()
        for worker in sample.of_attempt(attempt.id)
        if worker.round == facts.newest.number
    ]
    views = views_of(facts, attempt.id, samples) if is_up(facts) else []
    return UsageOut(
        round=facts.newest.number,
        workers=sorted(told, key=lambda worker: worker.rank),
        silent=[m.node for m in facts.in_newest if m.node not in samples and not m.has_ended],
        stragglers=[one.says for one in find_stragglers(views)],
    )


def _worker(usage: WorkerUsage, sample: Sample) -> WorkerUsageOut:
    return WorkerUsageOut(
        rank=usage.rank,
        pid=usage.pid,
        state=usage.state,
        cpu=usage.cpu,
        memory_bytes=usage.rss_bytes,
        gpu_index=usage.gpu_index,
        gpu=usage.gpu,
        gpu_memory_bytes=usage.gpu_memory_bytes,
        progress_s=None if usage.said_s is None else round(usage.said_s + sample.age_s, 1),
        age_s=round(sample.age_s, 1),
    )
