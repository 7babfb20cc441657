"""How step and loss went over time: one point each two seconds, thinned out for an answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.db.models import Count, F, Max, Min, Q
from django.db.models.functions import Mod

from agents.wire.runner_events import Progress

from .models import Job, Member, ProgressPoint
from .timeline_schemas import CurveOut, CurvePoint

SLOT_S = 2


@dataclass
class CurveBook:
    """The points of one transaction of ingest. ``write`` once at its end."""

    _points: dict[tuple[str, int], ProgressPoint] = field(default_factory=dict)

    def take(self, member: Member, event: Progress) -> None:
        """Of rank 0, and the first within its two seconds: a live job reports twice a second."""
        report = next((each for each in event.ranks if each.rank == 0), None)
        slot = int(event.at.timestamp()) // SLOT_S
        if report is None or (member.attempt_id, slot) in self._points:
            return
        self._points[member.attempt_id, slot] = ProgressPoint(
            attempt_id=member.attempt_id, slot=slot, at=event.at, step=report.step, metrics=report.metrics
        )

    def write(self) -> None:
        ProgressPoint.objects.bulk_create(self._points.values(), ignore_conflicts=True)
        self._points.clear()


def curve_out(job: Job, most: int) -> CurveOut:
    """At most about ``most`` points of all attempts, evenly apart, and the newest in any case."""
    points = ProgressPoint.objects.filter(attempt__job=job)
    told = points.aggregate(count=Count("id"), first=Min("slot"), last=Max("slot"))
    if not told["count"]:
        return CurveOut(every_s=float(SLOT_S), items=[])
    apart = -(-(told["last"] - told["first"] + 1) // most)
    kept = points.annotate(place=Mod(F("slot") - told["first"], apart)).filter(
        Q(place=0) | Q(slot=told["last"])
    )
    found = kept.order_by("slot").values_list("at", "attempt__number", "step", "metrics")
    return CurveOut(
        every_s=float(SLOT_S * apart),
        items=[
            CurvePoint(at=at, attempt=attempt, step=step, metrics=metrics)
            for at, attempt, step, metrics in found
        ],
    )
