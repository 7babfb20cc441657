"""Removes short stretches of metrics that are old: longer ones tell the same, extremes included."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Max, Q
from django.utils import timezone

from .bands import LEVELS_S
from .downsample import kept_from_s
from .models import Attempt, MetricSlot

AT_ONCE = 2000
"""Rows that one transaction removes at most: others write too."""
STILL_TOLD = timedelta(hours=1)
"""So long after an attempt's end there may be late reports of it."""


def thin_once() -> int:
    """Of every attempt that may still report; gives how many rows are gone. Whatever is left is for later."""
    recent = Q(ended_at=None) | Q(ended_at__gt=timezone.now() - STILL_TOLD)
    left = AT_ONCE
    for attempt in Attempt.objects.filter(recent).order_by("created_at").values_list("id", flat=True):
        left -= _thin(attempt, left)
        if left <= 0:
            break
    return AT_ONCE - left


def _thin(attempt: str, most: int) -> int:
    rows = MetricSlot.objects.filter(attempt=attempt).order_by()
    newest = rows.filter(level=0).aggregate(newest=Max("slot"))["newest"]
    if newest is None:
        return 0
    old = Q()
    for level, length_s in enumerate(LEVELS_S[:-1]):
        first = int(kept_from_s(level, newest * LEVELS_S[0]) // length_s)
        old |= Q(level=level, slot__lt=first)
    gone = list(rows.filter(old).values_list("pk", flat=True)[:most])
    MetricSlot.objects.filter(pk__in=gone).delete()
    return len(gone)
