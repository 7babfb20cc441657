"""Nodes, and the commands sent to them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class NodeState(models.TextChoices):
    ONLINE = "online"
    UNHEARD = "unheard"
    """Silent for 3 s: greyed, nothing is done to any job."""
    LOST = "lost"
    """Silent for 15 s."""


class Node(models.Model):
    name = models.CharField(max_length=100, unique=True)
    slots = models.PositiveIntegerField(default=0)
    facts = models.JSONField(default=dict)
    registered_at = models.DateTimeField()
    agent_started_at = models.DateTimeField(null=True)
    last_heard_at = models.DateTimeField(null=True)
    """By the hub's clock, from what was left of the node's lease."""
    clock_offset_s = models.FloatField(null=True)
    """How much the node's clock is ahead of the hub's, as of its last lease. None: not measured."""
    clock_error_s = models.FloatField(null=True)
    troubles = models.JSONField(default=list)
    """What did not work there as of its last lease, a sentence each."""
    state = models.CharField(max_length=16, choices=NodeState.choices, default=NodeState.UNHEARD)
    """As of the last look at the leases; an answer computes it anew from ``last_heard_at``."""
    draining_since = models.DateTimeField(null=True)
    """Since when it takes no jobs and those on it are moved away. None: it takes jobs."""
    drained_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    drain_reason = models.TextField(blank=True)
    comings = models.JSONField(default=list)
    """When it came back to a job that it had left unasked, newest last, in ISO 8601."""
    set_aside_at = models.DateTimeField(null=True)
    """Since when it gets no jobs, because it came and went too often. None: it does."""

    class Meta:
        ordering = ["name"]


class CommandState(models.TextChoices):
    WAITING = "waiting"
    """Written, not yet handed to Redis."""
    SENT = "sent"
    RECEIVED = "received"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNDELIVERED = "undelivered"

    @property
    def is_final(self) -> bool:
        return self in {
            CommandState.DONE,
            CommandState.REFUSED,
            CommandState.FAILED,
            CommandState.UNDELIVERED,
        }


class Command(models.Model):
    """The outbox: written with the intent, sent after commit, closed only by evidence."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    node = models.CharField(max_length=100)
    kind = models.CharField(max_length=40)
    body = models.JSONField()
    """The wire message, secrets masked."""
    sealed = models.TextField(blank=True, default="")
    """The secrets that it takes to the node. See ``sealed_start.py``."""
    job = models.PositiveBigIntegerField(null=True)
    attempt = models.CharField(max_length=80, blank=True)
    state = models.CharField(max_length=16, choices=CommandState.choices, default=CommandState.WAITING)
    deadline_s = models.FloatField(default=30.0)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    """None: Regroup itself."""
    why = models.TextField(blank=True)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    entry_id = models.CharField(max_length=40, blank=True)
    """Id of its entry in the node's command stream, for removing it there."""
    received_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["state", "created_at"], name="command_state"),
            models.Index(fields=["job", "created_at"], name="command_job"),
        ]
        ordering = ["created_at"]
