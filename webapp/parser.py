"""Reads requests of the API, and refuses text that the database could not keep."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from .errors import Problem

UNFIT = re.compile("[\0\ud800-\udfff]")
"""No text column of PostgreSQL takes U+0000, and half a character, which JSON can spell, fits nowhere."""


class FitForRows(Parser):
    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        body: dict[str, Any] = super().parse_body(request)
        _require_fit(body)
        return body

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        found: dict[str, Any] = super().parse_querydict(data, list_fields, request)
        _require_fit(found)
        return found


def _require_fit(value: Any, where: str = "") -> None:
    """Raises a 422 ``Problem`` that names the field."""
    match value:
        case dict():
            for key, item in value.items():
                _require_fit(key, where or "a name")
                _require_fit(item, f"{where}.{key}" if where else key)
        case list():
            for item in value:
                _require_fit(item, where)
        case str() if UNFIT.search(value):
            what = f"{where} holds U+0000 or half a character, which cannot be kept."
            raise Problem(422, "invalid", what, where=where, what_to_do="Leave it out.")
