"""The web process: HTTP by Django, the live socket by Channels."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
http = get_asgi_application()

# These need the apps that the line above has loaded.
from webapp.accounts.socket import SocketAuth  # noqa: E402
from webapp.live.consumer import LiveConsumer  # noqa: E402

sockets = URLRouter([path("ws/live", LiveConsumer.as_asgi())])  # type: ignore[arg-type]  # an ASGI app is a view here
application = ProtocolTypeRouter({"http": http, "websocket": SocketAuth(sockets)})
