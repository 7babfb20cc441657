"""Launching a job once more: secrets that were shown masked are taken from the job that it is a copy of."""

from __future__ import annotations

from typing import Any

from webapp.accounts.models import Account
from webapp.errors import refuse_field
from webapp.masking import MASK, mask

from .models import Job
from .schemas import JobIn

MASKED = ("env", "rdzv_conf")
"""Fields in which values are masked."""


def fill_masked(account: Account, data: JobIn) -> JobIn:
    """The same job with the values that stand masked in it.

    Only whoever launched a job has seen its secrets, so nobody else can have them put into another one.

    Raises:
        Problem: 422 naming the variable whose value is not known.
    """
    hidden = {field: {k for k, v in getattr(data, field).items() if MASK in str(v)} for field in MASKED}
    if not any(hidden.values()):
        return data
    source = Job.objects.filter(pk=data.copy_of, created_by=account).first() if data.copy_of else None
    filled = {field: _fill(field, getattr(data, field), names, source) for field, names in hidden.items()}
    return data.model_copy(update=filled)


def _fill(field: str, values: dict[str, str], names: set[str], source: Job | None) -> dict[str, str]:
    stored: dict[str, Any] = source.spec.get(field, {}) if source else {}
    shown: dict[str, Any] = mask({field: stored})[field]
    for name in sorted(names):
        if name not in stored or shown.get(name) != values[name]:
            raise refuse_field(
                field,
                f"The value of {name} is masked, and only who launched that job can launch it again so.",
                f"Write the value of {name}, or leave {name} out.",
            )
    return {**values, **{name: stored[name] for name in names}}
