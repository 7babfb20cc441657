"""Why a log store has failed, in one sentence and what to do about it. No key and no password is in it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

BAD_KEYS = {
    "SignatureDoesNotMatch",
    "InvalidAccessKeyId",
    "AccessDenied",
    "ExpiredToken",
    "InvalidToken",
    "403",
}
SET_KEYS = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of web and worker to keys that may read and write"


def plain_place(place: str) -> str:
    """Without the options, among which keys may be."""
    return place.partition("?")[0]


def why_failed(place: str, store: Any, error: Exception) -> str:
    """The end of a sentence, and the next one."""
    if not place.startswith("s3://"):
        return f"{error}. Look at the folder that REGROUP_LOG_STORE names"
    from botocore.exceptions import (  # type: ignore[import-untyped]  # it brings no types
        ClientError,
        ConnectionError,
        HTTPClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )

    if isinstance(error, ClientError):
        return _why_refused(urlsplit(place).netloc, error.response.get("Error", {}))
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return f"there are no keys for it. {SET_KEYS}"
    if isinstance(error, (ConnectionError, HTTPClientError)):
        return f"{_host(store)} does not answer. Look whether it runs, and at REGROUP_LOG_STORE"
    return f"{type(error).__name__}. Look at REGROUP_LOG_STORE, and whether the store is well"


def _why_refused(bucket: str, told: dict[str, str]) -> str:
    code = told.get("Code", "an error without a name")
    if code in BAD_KEYS:
        return f"it refuses the keys ({code}). {SET_KEYS}"
    if code == "NoSuchBucket":
        return f"it has no bucket {bucket} ({code}). Make it, or name another one in REGROUP_LOG_STORE"
    if code == "NoSuchKey":
        return f"it is not there ({code}). Look whether somebody or a rule of the bucket removes logs"
    return f"it says {code}. Look up what that means for the store, and set that right"


def _host(store: Any) -> str:
    """As it was given, but for a name and a password."""
    return urlsplit(store.endpoint_url or "").netloc.rpartition("@")[2] or "S3"
