"""The ingest process: ``manage.py ingest``. Ends within two seconds of SIGTERM, between two batches."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from webapp.ingest.loop import Loop


class Command(BaseCommand):
    help = "Take what nodes report into the database, until told to end."
    requires_system_checks: list[str] = []  # they read the whole API, and have passed before it was shipped

    def handle(self, *args: Any, **options: Any) -> None:
        end = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: end.set())
        Loop(end.is_set).run()
