"""The database's copy of every journal: what happened, once each, in order of its source."""

from __future__ import annotations

from django.db import models


class Source(models.Model):
    """One journal somewhere. ``last_seq`` is what has been committed; it only ever grows by one."""

    name = models.CharField(max_length=200, primary_key=True)
    node = models.CharField(max_length=100, db_index=True)
    last_seq = models.PositiveBigIntegerField(default=0)


SET_ASIDE = "set_aside"
"""Kind of a record that could not be read or applied: kept and shown with what came, never in the way."""


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
