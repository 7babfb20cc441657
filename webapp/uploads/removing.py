"""Which jobs use uploaded code, and how it is removed once none does."""

from __future__ import annotations

from collections import defaultdict

from django.apps import apps
from django.utils import timezone

from agents.wire.lifecycle import JobState
from webapp.accounts.models import Account
from webapp.errors import Problem, not_found

from .store import Gone, Upload, discard

ENDED = [state.value for state in JobState if state.is_terminal]
SHOWN = 3


def jobs_by_code() -> dict[str, list[int]]:
    """Jobs that are not over, by the digest of their code: another attempt may fetch it at any time."""
    # By its name, as the app of the jobs stands on this one.
    jobs = apps.get_model("jobs", "Job").objects.exclude(state__in=ENDED).exclude(spec__code=None)
    found: dict[str, list[int]] = defaultdict(list)
    for number, code in jobs.order_by("id").values_list("id", "spec__code"):
        found[code].append(number)
    return found


def remove(account: Account, upload: Upload) -> None:
    """What was in it is gone; what it was called and who removed it is kept, for jobs that had it.

    Of a job that is launched at this very moment the start fails, and says that the code is gone.

    Raises:
        Problem: 409 while a job that is not over uses it, 404 when somebody else was first.
    """
    if using := jobs_by_code().get(upload.digest):
        named = ", ".join(f"job {number}" for number in using[:SHOWN])
        more = f" and {len(using) - SHOWN} more" if len(using) > SHOWN else ""
        raise Problem(
            409,
            "upload_in_use",
            f"The upload {upload.name} is not removed: {named}{more} may fetch it yet.",
            where="digest",
            what_to_do="Stop what uses it, or wait for its end.",
        )
    if not discard(upload, Gone(name=upload.name, removed_by=account.username, removed_at=timezone.now())):
        raise not_found(f"The upload {upload.name} is gone already.")
