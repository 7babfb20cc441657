"""Launching a job once more: secrets that were shown masked are taken from the job that it is a copy of."""

from __future__ import annotations

from webapp.accounts.models import Account
from webapp.errors import refuse_field
from webapp.masking import MASK
from webapp.sealing import Secrets

from .models import Job
from .schemas import JobIn
from .sealed import opened

MASKED = ("env", "rdzv_conf")
"""Fields in which values are masked."""


def fill_masked(account: Account, data: JobIn) -> JobIn:
    """The same job with the values that stand masked in it.

    Only whoever launched a job has seen its secrets, so nobody else can have them put into another one.

    What was marked secret stays so: its value is not shown by taking the mark away.

    Raises:
        Problem: 422 naming the variable whose value is not known, 409 where none can be opened.
    """
    hidden = {field: {k for k, v in getattr(data, field).items() if MASK in str(v)} for field in MASKED}
    if not any(hidden.values()):
        return data
    source = Job.objects.filter(pk=data.copy_of, created_by=account).first() if data.copy_of else None
    for field, names in hidden.items():
        _require_known(field, getattr(data, field), names, source)
    assert source is not None
    secrets = opened(source)
    filled = {field: getattr(data, field) | _pick(secrets, field, names) for field, names in hidden.items()}
    marked = set(source.spec.get("secret_env", ())) & hidden["env"]
    return data.model_copy(update={**filled, "secret_env": sorted(marked | set(data.secret_env))})


def _pick(secrets: Secrets, field: str, names: set[str]) -> dict[str, str]:
    return {name: value for name, value in secrets.get(field, {}).items() if name in names}


def _require_known(field: str, values: dict[str, str], names: set[str], source: Job | None) -> None:
    shown = source.spec.get(field, {}) if source else {}
    for name in sorted(names):
        if shown.get(name) != values[name]:
            raise refuse_field(
                field,
                f"The value of {name} is masked, and only who launched that job can launch it again so.",
                f"Write the value of {name}, or leave {name} out.",
            )
