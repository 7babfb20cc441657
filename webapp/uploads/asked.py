"""Uploaded code as a job asks for it: whether nodes can have it, and where they fetch it."""

from __future__ import annotations

from django.conf import settings

from agents.wire.code import CodeSource
from agents.wire.spec import JobSpec
from webapp.errors import refuse_field

from .store import find, find_gone
from .tickets import make_ticket


def require_code(spec: JobSpec) -> None:
    """Raises:
    Problem: 422 naming the field, where the job asks for code that no node could have.
    """
    if spec.code is None:
        return
    upload = find(spec.code)
    if upload is None:
        raise refuse_field("code", say_missing(spec.code), "Upload the code again, or name a path.")
    if spec.script and spec.script.removeprefix("./") not in upload.files:
        some = ", ".join(upload.files[:5]) + (", …" if len(upload.files) > 5 else "")
        raise refuse_field(
            "script", f"The upload {upload.name} has no file {spec.script}.", f"It has: {some}."
        )
    if not settings.HUB_URL:
        raise refuse_field(
            "code",
            "The hub does not know under which address nodes reach it, so that they cannot fetch the code.",
            "Set REGROUP_HUB_URL for the hub, such as http://hub:8000, or name a path on the nodes.",
        )


def say_missing(digest: str) -> str:
    if gone := find_gone(digest):
        return (
            f"The upload {gone.name} ({digest[:12]}…) is gone: {gone.removed_by} removed it at "
            f"{gone.removed_at:%Y-%m-%d %H:%M} UTC."
        )
    return f"There is no upload with the digest {digest[:80]}."


def source_for(spec: JobSpec, node: str) -> CodeSource | None:
    """Where that node fetches the job's code."""
    if spec.code is None:
        return None
    return CodeSource(digest=spec.code, hub=settings.HUB_URL, ticket=make_ticket(spec.code, node))
