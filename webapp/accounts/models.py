"""Who may look and who may act."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    VIEWER = "viewer"
    OPERATOR = "operator"


class Account(AbstractUser):
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)

    @property
    def may_operate(self) -> bool:
        return self.is_active and self.role == Role.OPERATOR


class ApiToken(models.Model):
    """A bearer token. Only its digest is kept."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)


class FailedLogIn(models.Model):
    """One wrong password, kept for the minute in which it counts."""

    username = models.CharField(max_length=150)
    address = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["username", "address", "at"], name="failed_log_in")]
