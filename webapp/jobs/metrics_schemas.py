"""Metrics as an answer: bands over ranks, round by round. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from webapp.schemas import Answer

from .timeline_schemas import CauseKind, CauseWord

MetricGroup = Literal["job", "torch"]
"""job: what the script or its log said. torch: what torch's elastic agent told of itself."""


class MetricNameOut(Answer):
    name: str
    group: MetricGroup


class MetricRunOut(Answer):
    """One round's part of a series; all lists are equally long, and in order of time."""

    attempt: int
    round: int
    """0: before the first round."""
    t: list[float]
    """Seconds since the epoch, by the nodes' clocks: when the reports of the point came, on the average."""
    step: list[float | None]
    """The mean over ranks by then. None: no step was reported."""
    min: list[float]
    mean: list[float]
    max: list[float]
    min_rank: list[int | None]
    """Who reported the lowest. None for what is no rank's own, such as ``rate``."""
    max_rank: list[int | None]


class SeriesOut(Answer):
    name: str
    group: MetricGroup
    runs: list[MetricRunOut]


class MetricRoundOut(Answer):
    """When a round began, for a mark in a chart."""

    attempt: int
    number: int
    at: datetime
    world_size: int
    restart: CauseWord
    kind: CauseKind | None
    """What it began for. None for the first of an attempt, and while it is not known."""
    sentence: str
    """The same in words."""
    planned: bool


class MetricsOut(Answer):
    names: list[MetricNameOut]
    """All that the job has, in the order in which they were first reported."""
    not_kept: list[str]
    """Metrics beyond the most that one job may have: of these nothing is kept."""
    most: int
    """How many metrics one job may have."""
    began_at: datetime | None
    """The first report of those attempts. None: nothing is reported."""
    ended_at: datetime | None
    """The newest."""
    every_s: float
    """Points are this far apart, where progress was reported all the time."""
    rounds: list[MetricRoundOut]
    series: list[SeriesOut]
