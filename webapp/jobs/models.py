"""Jobs and what became of them: attempts, rounds, members, workers, phases."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Wanted(models.TextChoices):
    RUN = "run"
    STOP = "stop"


class Job(models.Model):
    name = models.CharField(max_length=100)
    spec = models.JSONField()
    min_nodes = models.PositiveIntegerField()
    max_nodes = models.PositiveIntegerField()
    wanted = models.CharField(max_length=8, choices=Wanted.choices, default=Wanted.RUN)
    state = models.CharField(max_length=16, default="queued", db_index=True)
    state_reason = models.TextField(blank=True)
    state_since = models.DateTimeField()
    version = models.PositiveBigIntegerField(default=1)
    """Grows with every change that a page could show."""
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="jobs")
    created_at = models.DateTimeField()
    stopped_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="stopped_jobs"
    )
    stop_reason = models.TextField(blank=True)
    stop_grace_s = models.FloatField(null=True)
    """What its workers have between SIGTERM and SIGKILL when it is stopped. None: what the spec says."""
    ended_at = models.DateTimeField(null=True)
    nodes_wanted = models.PositiveIntegerField(null=True)
    """How many nodes an operator last asked for. None: what the spec says."""
    nodes_wanted_why = models.TextField(blank=True)
    """Who asked for that number, and why, in words such as ``scaled down by anna: a look``."""
    not_before = models.DateTimeField(null=True)
    """When the next attempt may be placed, after one that ended for infrastructure's reasons."""

    class Meta:
        ordering = ["-id"]

    @property
    def wanted_nodes(self) -> int:
        """How many nodes shall train; an operator's last word counts before the spec's."""
        return self.nodes_wanted or self.spec.get("nodes") or self.max_nodes


class Attempt(models.Model):
    """One launch under a fresh rendezvous id, which is its primary key."""

    id = models.CharField(max_length=80, primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    store_host = models.CharField(max_length=100)
    endpoint = models.CharField(max_length=255, blank=True)
    """``HOST:PORT`` of the store once it is known."""
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_why = models.TextField(blank=True)
    """What ended it, once a newer attempt has taken its place."""
    is_infrastructure = models.BooleanField(default=False)
    """It ended for no fault of the job's, so that a new attempt counts against ``max_relaunches``."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="attempt_once")]
        ordering = ["job", "number"]


class Member(models.Model):
    """One node of an attempt. ``folded`` is ``lifecycle.RunnerState`` as JSON."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="members")
    node = models.CharField(max_length=100)
    slots = models.PositiveIntegerField()
    phase = models.CharField(max_length=16, default="launching")
    source = models.CharField(max_length=200, blank=True)
    folded = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    """When the node said that nothing of it is left: only then are its slots free."""
    incarnation = models.PositiveIntegerField(default=1)
    """Which of the runners that this node has had in this attempt it is about."""
    leaves_at = models.DateTimeField(null=True)
    """Since when the node is to leave the attempt. None: it is to take part."""
    leaves_why = models.TextField(blank=True)
    deaths = models.JSONField(default=list)
    """When earlier runners of this node died in this attempt, newest last, in ISO 8601."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "node"], name="member_once")]
        ordering = ["attempt", "node"]


class Round(models.Model):
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    world_size = models.PositiveIntegerField()
    nodes = models.JSONField()
    cause = models.CharField(max_length=16)
    charged = models.CharField(max_length=100, blank=True)
    claims = models.JSONField(default=list)
    absent = models.JSONField(default=dict)
    """Why a node that was expected is not in it, as the runners saw it, by its name."""
    why = models.TextField(blank=True)
    """The first cause in words, as far as it is known."""
    resumed_step = models.PositiveBigIntegerField(null=True)
    """From which step it went on, as the workers reported it."""
    last_step = models.PositiveBigIntegerField(null=True)
    """How far any of its workers had come when it ended."""
    formed_at = models.DateTimeField()
    moments = models.JSONField(default=dict)
    """The latest of each recorded moment of the way into it. See ``moments.py``."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "number"], name="round_once")]
        ordering = ["attempt", "number"]


class NodeMoments(models.Model):
    """When a node and each of its ranks came past each moment of the way into a round. See ``moments.py``."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="moments")
    node = models.CharField(max_length=100)
    round = models.PositiveIntegerField(default=0)
    """0: the round to come, whose number is not known yet."""
    offset_s = models.FloatField(null=True)
    """How far the node's clock was ahead of the hub's; its moments are told less this. None: not known."""
    error_s = models.FloatField(null=True)
    of_node = models.JSONField(default=dict)
    """ISO 8601 by the hub's clock, by the moment's name."""
    of_ranks = models.JSONField(default=dict)
    """The same for each rank, by the moment's name and the rank."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "round", "node"], name="moments_once")]


class Worker(models.Model):
    """One training process, for ever: also after later rounds replaced it."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="workers")
    round = models.PositiveIntegerField()
    rank = models.PositiveIntegerField()
    local_rank = models.PositiveIntegerField()
    node = models.CharField(max_length=100)
    pid = models.PositiveIntegerField()
    start_time = models.PositiveBigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    signal = models.CharField(max_length=16, blank=True)
    role = models.CharField(max_length=16, default="running")
    ended_by = models.CharField(max_length=16, blank=True)
    """See ``agents.wire.runner_events.ExitKind``."""
    known_from = models.TextField(blank=True)
    said = models.TextField(blank=True)
    error = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "round", "rank"], name="worker_once"),
        ]
        ordering = ["attempt", "round", "rank"]


class ProgressPoint(models.Model):
    """What rank 0 reported first within two seconds: what curves are drawn from. See ``curves.py``."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="points")
    slot = models.PositiveBigIntegerField()
    """Which two seconds since the epoch, by the node's clock."""
    at = models.DateTimeField()
    step = models.PositiveBigIntegerField()
    metrics = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "slot"], name="point_once")]
        ordering = ["slot"]


class PhaseSpan(models.Model):
    """A stretch of a node's lane in the timeline: one phase, from when to when."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="spans")
    node = models.CharField(max_length=100)
    phase = models.CharField(max_length=16)
    round = models.PositiveIntegerField(null=True)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["attempt", "node", "began_at"], name="span_lane")]
        ordering = ["began_at", "id"]


class Sentence(models.Model):
    """What the headline of a job said, and when it began to say so."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="sentences")
    at = models.DateTimeField()
    state = models.CharField(max_length=16)
    says = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["job", "-id"], name="sentence_job")]
        ordering = ["-id"]
