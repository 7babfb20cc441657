"""The database's copy of every journal: what happened, once each, in order of its source."""

from __future__ import annotations

from django.db import models


class Source(models.Model):
    """One journal somewhere. ``last_seq`` is what has been committed; it only ever grows by one."""

    name = models.CharField(max_length=200, primary_key=True)
    node = models.CharField(max_length=100, db_index=True)
    last_seq = models.PositiveBigIntegerField(default=0)


class Record(models.Model):
    """One journal record. ``id`` is the cursor of event lists."""

    id = models.BigAutoField(primary_key=True)
    source = models.CharField(max_length=200)
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()
    received_at = models.DateTimeField()
    node = models.CharField(max_length=100)
    attempt = models.CharField(max_length=80, blank=True, db_index=True)
    round = models.PositiveIntegerField(null=True)
    inferred = models.BooleanField(default=False)
    body = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "seq"], name="record_once")]
        indexes = [
            models.Index(fields=["attempt", "id"], name="record_attempt"),
            models.Index(fields=["node", "id"], name="record_node"),
        ]
        ordering = ["id"]


class SetAside(models.Model):
    """An entry that could not be read: kept and shown, never in the way."""

    source = models.CharField(max_length=200)
    seq = models.PositiveBigIntegerField()
    node = models.CharField(max_length=100)
    text = models.TextField()
    why = models.TextField()
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "seq"], name="set_aside_once")]
        ordering = ["id"]
