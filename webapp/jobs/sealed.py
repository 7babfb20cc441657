"""A job's secrets: the row holds what may be shown, and what may not lies sealed beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.errors import Problem
from webapp.masking import mask, secrets_of
from webapp.sealing import KeyTrouble, Secrets, seal, unseal

from .models import Job


def sealed(spec: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The spec as it may be shown, and its secrets.

    Raises:
        Problem: 503, as the hub's key cannot be used.
    """
    try:
        return mask(dict(spec)), seal(secrets_of(spec))
    except KeyTrouble as trouble:
        raise Problem(
            503,
            "secrets_key",
            f"The secret variables of this job cannot be sealed, so that it was not launched. {trouble}",
            where="env",
        ) from trouble


def opened(job: Job) -> Secrets:
    """Raises:
    Problem: 409, as they cannot be opened.
    """
    try:
        return unseal(job.sealed)
    except KeyTrouble as trouble:
        raise Problem(409, "secrets_key", _say(job, trouble), where="env") from trouble


def why_closed(job: Job) -> str:
    """Why its secrets cannot be opened, in whole sentences. Empty: they can, or it has none."""
    try:
        unseal(job.sealed)
    except KeyTrouble as trouble:
        return _say(job, trouble)
    return ""


def _say(job: Job, trouble: KeyTrouble) -> str:
    return f"The secret variables of job {job.pk} {job.name} cannot be opened. {trouble}"
