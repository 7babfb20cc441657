"""The web process: ``python -m webapp.web``. Looks whether it may listen there, then is the server itself."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

import uvicorn

from agents.wire.bus import connect

from . import env
from .listening import CannotListen, allowed_hosts, require_password, resolve


def main() -> int:
    parser = ArgumentParser(
        prog="python -m webapp.web",
        description="Serve the page and the API. Beyond loopback only when Redis asks for a password.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
    parser.add_argument("--port", default=8000, type=int)
    given = parser.parse_args()
    try:
        _serve(_allow(given.host), given.port)
    except (CannotListen, env.BadSetting) as problem:
        print(problem, file=sys.stderr)  # noqa: T201 - for the person who starts it
        return 1
    return 0


def _allow(host: str) -> str:
    """The address to listen on. The names it then answers to are left where the settings read them.

    Raises:
        CannotListen: not there.
        BadSetting: where Redis is cannot be told.
    """
    address = resolve(host)
    client = connect(env.redis_url(), socket_timeout=2, socket_connect_timeout=2)
    try:
        require_password(address, client)
    finally:
        client.close()
    os.environ["REGROUP_ALLOWED_HOSTS"] = ",".join(allowed_hosts(address, env.allowed_hosts()))
    return address


def _serve(address: str, port: int) -> None:
    """Until a signal ends it. Django is imported here, once, with what was left in the environment.

    Raises:
        BadSetting: a variable makes no sense.
    """
    uvicorn.run(
        "webapp.asgi:application",
        host=address,
        port=port,
        lifespan="off",
        ws="auto",
        access_log=False,
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    sys.exit(main())
