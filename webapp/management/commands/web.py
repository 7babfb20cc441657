"""The web process: ``manage.py web``. Looks whether it may listen there, then becomes uvicorn."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from webapp.listening import CannotListen, allowed_hosts, require_password, resolve
from webapp.redis import get_redis

SERVER = (
    *("-m", "uvicorn", "webapp.asgi:application", "--lifespan", "off", "--ws", "auto"),
    *("--no-access-log", "--timeout-graceful-shutdown", "1"),
)


class Command(BaseCommand):
    help = "Serve the page and the API. Beyond loopback only when Redis asks for a password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
        parser.add_argument("--port", default=8000, type=int)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            address = resolve(host)
            require_password(address, get_redis())
        except CannotListen as problem:
            raise CommandError(str(problem)) from problem
        names = ",".join(allowed_hosts(address, settings.ALLOWED_HOSTS))
        where = ("--host", address, "--port", str(port))
        # The same process from here on, so that whoever watches over it watches over the server itself.
        os.execve(
            sys.executable, [sys.executable, *SERVER, *where], {**os.environ, "REGROUP_ALLOWED_HOSTS": names}
        )
