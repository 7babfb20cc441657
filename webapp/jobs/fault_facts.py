"""Reads the rows of a job into what a fault's forecast and its warnings are made from."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from webapp.fleet.models import Command
from webapp.fleet.outbox import OPEN

from .answers import job_out
from .fault_aims import Targets
from .fault_forecast import GOES_ON, Aim, Situation
from .fault_outcome import back_with_runner_s
from .fault_schemas import FaultIn
from .folded import runner_of
from .models import Fault, Job, Member, Round
from .schemas import JobOut
from .waterfall import read_moments, recovery_s
from .words import count, listed

NEWEST = 20
"""So many of the newest times count: a job's recovery changes as its checkpoints grow."""
FRESH_S = 5.0
"""A report of progress that is older says nothing of where its rank is now."""


def aim_of(fault: FaultIn, targets: Targets) -> Aim:
    return Aim(
        kind=fault.kind,
        ranks=tuple(worker.rank for worker in targets.workers),
        nodes=targets.nodes,
        signal=fault.signal,
        seconds=fault.seconds,
        share=fault.share,
    )


def situation_of(job: Job, aim: Aim) -> Situation:
    seen = job_out(job)
    spec = seen.spec
    return Situation(
        world_size=seen.world_size,
        nodes=seen.nodes.formed,
        on_node=sum(worker.node in aim.nodes for worker in seen.workers),
        min_nodes=job.min_nodes,
        max_restarts=seen.restarts.max_restarts,
        failure_restarts=seen.restarts.failure,
        charged={node: spent.charged for node, spent in seen.restarts.by_node.items()},
        step=_step_now(seen),
        checkpoint_step=seen.checkpoint_step,
        is_fixed=spec.rdzv_backend == "static",
        restarts_stalled=spec.on_stall == "restart",
        earlier_s=tuple(_earlier_s(job, aim)[:NEWEST]),
    )


def _step_now(seen: JobOut) -> int | None:
    """Of the fastest rank, whose work is lost. Reports come twice a second; training has gone on since."""
    workers = seen.workers
    told = [(w.step, w.progress_at) for w in workers if w.step is not None and w.progress_at is not None]
    if not told:
        return seen.step
    step, at = max(told)
    age_s = (timezone.now() - at).total_seconds()
    return step + int((seen.steps_per_s or 0.0) * age_s) if 0 < age_s <= FRESH_S else step


# -- how long it took before, the newest first --------------------------------------------


def _earlier_s(job: Job, aim: Aim) -> list[float]:
    match aim.kind:
        case "kill_worker":
            return [] if aim.signal in GOES_ON else _recoveries_s(job)
        case "kill_runner":
            return _after_killed_runners_s(job)
        case "kill_agent":
            done = Command.objects.filter(job=job.id, kind="kill_agent", state="done").order_by("-created_at")
            return [float(c.evidence["back_after_s"]) for c in done if "back_after_s" in c.evidence]
        case _:
            return []


def _recoveries_s(job: Job) -> list[float]:
    """Those after a kill by hand are timed from the signal on, and are taken where there are any."""
    rows = Round.objects.filter(attempt__job=job, cause="failure").order_by("-formed_at")[: 3 * NEWEST]
    told = [(row, seconds) for row in rows if (seconds := recovery_s(read_moments(row.moments))) is not None]
    by_hand = [seconds for row, seconds in told if "fault" in row.moments]
    return by_hand or [seconds for _, seconds in told]


def _after_killed_runners_s(job: Job) -> list[float]:
    faults = Fault.objects.filter(job=job, command__kind="kill_runner", command__state="done")
    faults = faults.select_related("command").order_by("-command__created_at")[:NEWEST]
    found = (back_with_runner_s(fault.command, _rounds_after(fault)) for fault in faults)
    return [seconds for seconds in found if seconds is not None]


def _rounds_after(fault: Fault) -> list[Round]:
    return list(Round.objects.filter(attempt=fault.attempt_id, number__gt=fault.round).order_by("number"))


# -- warnings -----------------------------------------------------------------------------


def warnings_of(job: Job, targets: Targets, aim: Aim) -> list[str]:
    members = list(targets.attempt.members.filter(settled_at=None).order_by("node"))
    return [*_of_saving(members), *_of_others(job, aim), *_of_faults(job)]


def _of_saving(members: Iterable[Member]) -> list[str]:
    workers = [worker for member in members for worker in runner_of(member).workers]
    saving = [worker for worker in workers if worker.saving_since is not None and worker.state == "running"]
    if not saving:
        return []
    ranks = listed(str(worker.ref.rank) for worker in sorted(saving, key=lambda each: each.ref.rank))
    which = f"Rank {ranks} is" if len(saving) == 1 else f"Ranks {ranks} are"
    return [f"{which} writing a checkpoint now: what is written may be torn, and more is redone."]


def _of_others(job: Job, aim: Aim) -> list[str]:
    """Who else runs where the whole node is hit."""
    if aim.kind not in ("kill_agent", "cut_node"):
        return []
    others = Member.objects.filter(node__in=aim.nodes, settled_at=None).exclude(attempt__job=job)
    jobs = sorted({member.attempt.job_id for member in others.select_related("attempt")})
    if not jobs:
        return []
    are = "is" if len(jobs) == 1 else "are"
    return [f"On {listed(aim.nodes)} {are} {listed(f'job {each}' for each in jobs)} as well."]


def _of_faults(job: Job) -> list[str]:
    running = Fault.objects.filter(job=job, command__state__in=OPEN).count()
    if not running:
        return []
    return [f"{count(running, 'fault')} of this job {'is' if running == 1 else 'are'} running already."]
