"""``manage.py export_openapi``: write the description of the API that the frontend's types are made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.api import api

DEFAULT = Path(__file__).resolve().parents[3] / "openapi.json"


class Command(BaseCommand):
    help = "Write the API's OpenAPI description, the same bytes for the same API."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, default=DEFAULT)

    def handle(self, *args: Any, output: Path, **options: Any) -> None:
        text = json.dumps(api.get_openapi_schema(), indent=2, sort_keys=True, ensure_ascii=False)
        output.write_text(text + "\n")
