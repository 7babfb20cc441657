"""Labels and notes of a job, which people find it by. These names are public and stay."""

from __future__ import annotations

import re
from typing import Annotated

from ninja import Schema
from pydantic import AfterValidator, Field

MOST_LABELS = 30
LONGEST_NOTES = 10_000
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9._/-]{0,62}$")
_LONGEST_VALUE = 100


def _check_labels(labels: dict[str, str]) -> dict[str, str]:
    if len(labels) > MOST_LABELS:
        raise ValueError(f"There are {len(labels)} labels. A job has {MOST_LABELS} at most.")
    for name, value in labels.items():
        if not _NAME.match(name):
            raise ValueError(f"{name!r} is no name of a label: a letter, then letters, digits, . _ / or -.")
        if len(value) > _LONGEST_VALUE:
            raise ValueError(f"The label {name} has more than {_LONGEST_VALUE} characters. Use notes.")
    return labels


Labels = Annotated[dict[str, str], AfterValidator(_check_labels)]


class LabelsIn(Schema):
    labels: Labels = Field(default_factory=dict)
    """Such as ``{"team": "vision"}``. Lists can be narrowed by them."""
    notes: str = Field(default="", max_length=LONGEST_NOTES)
    """Whatever people should know about it."""
