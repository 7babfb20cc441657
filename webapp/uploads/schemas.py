"""Uploaded code as answers. These names are public and stay."""

from __future__ import annotations

from datetime import datetime

from ninja import Schema


class UploadSummary(Schema):
    digest: str
    """What a job names in ``code``."""
    name: str
    size_bytes: int
    """Of the zip that nodes fetch."""
    file_count: int
    uploaded_by: str
    uploaded_at: datetime
    script: str | None
    """The file that is likely meant to be run. None: several could be."""


class UploadItem(UploadSummary):
    used_by: list[int]
    """Jobs that are not over and have it as their code. While there are any it cannot be removed."""


class UploadOut(UploadSummary):
    files: list[str]
    """Their paths in it."""
    left_out: int = 0
    """Files of the upload just made that are no code, such as those of ``.git``."""


class UploadPage(Schema):
    items: list[UploadItem]
