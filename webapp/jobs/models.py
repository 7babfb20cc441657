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
    """With its secrets masked."""
    sealed = models.TextField(blank=True, default="")
    """The secrets. See ``sealed.py``. Empty: it has none."""
    min_nodes = models.PositiveIntegerField()
    max_nodes = models.PositiveIntegerField()
    wanted = models.CharField(max_length=8, choices=Wanted.choices, default=Wanted.RUN)
    state = models.CharField(max_length=16, default="queued", db_index=True)
    state_reason = models.TextField(blank=True)
    state_since = models.DateTimeField()
    version = models.PositiveBigIntegerField(default=1)
    """Grows with every change that a page could show."""
    story = models.PositiveBigIntegerField(default=1)
    """Grows with all of these but that it trains on. See ``story.py``."""
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
    priority = models.SmallIntegerField(default=0)
    """A point is worth six minutes of waiting. See ``queue.py``."""
    placing = models.JSONField(default=dict)
    """On which nodes it may run, and what its checks said: ``placing_schemas.PlacingOut``."""
    labels = models.JSONField(default=dict)
    """What people find it by, such as ``{"team": "vision"}``."""
    notes = models.TextField(blank=True)
    archived_at = models.DateTimeField(null=True, db_index=True)
    """Since when lists leave it out. None: they have it."""

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


class MetricSlot(models.Model):
    """What all ranks of a round reported within a stretch of time, as bands. See ``metric_fold.py``."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="metric_slots", db_index=False
    )  # the constraint begins with it
    round = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField()
    """How long the stretch is: see ``bands.LEVELS_S``."""
    slot = models.PositiveBigIntegerField()
    """Which stretch of that length since the epoch, by the node's clock."""
    reports = models.PositiveBigIntegerField()
    seconds = models.FloatField()
    """Over all ``reports``, how long after the stretch began they came: their sum."""
    bands = models.JSONField(default=dict)
    """By the metric's name ``[count, sum, min, max, rank of the min, rank of the max]``."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "level", "slot", "round"], name="metric_slot_once")
        ]
        ordering = ["slot", "round"]


class MetricName(models.Model):
    """A metric that the job has reported. Of too many, only the first are kept."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="metric_names")
    name = models.CharField(max_length=100)
    is_kept = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="metric_name_once")]
        ordering = ["id"]


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


class Fault(models.Model):
    """What was forecast of a fault that somebody asked for. Its command and the rounds tell the rest."""

    command = models.OneToOneField(
        "fleet.Command", on_delete=models.CASCADE, primary_key=True, related_name="fault"
    )
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="faults")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="faults")
    round = models.PositiveIntegerField()
    """The newest round when it was asked for."""
    forecast = models.JSONField()
    """``fault_schemas.FaultForecast`` as it was shown."""
    begun_at = models.DateTimeField(null=True)
    """When its node said that it has taken hold. None: not yet, or it is a kill, which is over at once."""
    begun_says = models.TextField(blank=True)

    class Meta:
        ordering = ["-command__created_at"]


class EvidencePart(models.Model):
    """What a node keeps of a round that failed. The part itself stays on the node until somebody wants it."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="evidence")
    node = models.CharField(max_length=100)
    round = models.PositiveIntegerField()
    size_bytes = models.PositiveBigIntegerField()
    cause = models.TextField(blank=True)
    """Why the round ended, as far as that node knows."""
    ranks = models.JSONField(default=list)
    stacks = models.JSONField(default=list)
    """Ranks whose stacks were taken before they were ended."""
    missing = models.JSONField(default=list)
    kept_at = models.DateTimeField()
    is_dropped = models.BooleanField(default=False)
    """It has made room for that of newer rounds."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "node", "round"], name="evidence_once")]
        ordering = ["attempt", "round", "node"]


class HookRun(models.Model):
    """A command of the job's ``on_failure`` or ``on_end`` that is over on one node."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="hook_runs")
    node = models.CharField(max_length=100)
    incarnation = models.PositiveIntegerField()
    hook = models.CharField(max_length=16)
    round = models.PositiveIntegerField()
    index = models.PositiveIntegerField()
    outcome = models.CharField(max_length=16)
    exit_code = models.IntegerField(null=True)
    took_s = models.FloatField()
    said = models.TextField(blank=True)
    output = models.TextField(blank=True)
    """The end of what it wrote."""
    output_bytes = models.PositiveBigIntegerField()
    ended_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "node", "incarnation", "hook", "round", "index"], name="hook_once"
            )
        ]
        ordering = ["attempt", "round", "hook", "node", "index"]


class Stall(models.Model):
    """A time in which workers ran and came no further. See ``stall_watch.py``."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="stalls")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="stalls")
    round = models.PositiveIntegerField()
    rank = models.PositiveIntegerField(null=True)
    """The one that is behind. None: none stands out."""
    node = models.CharField(max_length=100, blank=True)
    began_at = models.DateTimeField()
    """When the last sign of progress came."""
    noticed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, db_index=True)
    """When it was seen to go on, or its round was over."""
    why = models.TextField()
    """Who is behind and how that is known, in words."""
    acted = models.TextField(blank=True)
    """What was done about it by the job's policy, as a sentence."""
    command = models.CharField(max_length=40, blank=True)
    """Id of the command that ended a worker for it."""
    asked = models.JSONField(default=dict)
    """Questions for stacks that are not answered yet: their ids by node."""
    stacks = models.JSONField(default=list)
    """How its ranks stood when it was noticed. See ``stacks.py``."""

    class Meta:
        ordering = ["-id"]


class ShippedLog(models.Model):
    """What the log store has of one stream. See ``log_shipping.py``."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="shipped_logs")
    round = models.PositiveIntegerField()
    rank = models.PositiveIntegerField()
    stream = models.CharField(max_length=6)
    node = models.CharField(max_length=100)
    first = models.PositiveBigIntegerField(default=0)
    """The offset of its first byte: what was before had been dropped."""
    end = models.PositiveBigIntegerField(default=0)
    """The offset behind its last byte so far."""
    state = models.CharField(max_length=8, default="shipping")
    """``shipping``, ``complete``, ``partial``: the node has lost the rest, ``none``: nothing was written."""
    next_try_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "round", "rank", "stream"], name="shipped_once"),
        ]
        indexes = [models.Index(fields=["state", "next_try_at"], name="shipped_due")]


class JobChecks(models.Model):
    """What the checks of a launch found: a table that is large where there are many nodes."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="checked")
    told = models.JSONField()
    """``check_schemas.ChecksOut``."""
