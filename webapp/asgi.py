"""The web process: HTTP by Django, the live socket by Channels."""

from __future__ import annotations

import os
import warnings

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
# Somebody waits for each answer, also for the one that the database does not answer.
os.environ.setdefault("REGROUP_DATABASE_WAIT_S", "5")
# WhiteNoise answers with plain files, which Django reads as a whole; they are small enough for that.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
django.setup(set_prefix=False)

# These need the apps that the line above has loaded.
from webapp.accounts.socket import SocketAuth  # noqa: E402
from webapp.body_limit import BodyLimit  # noqa: E402
from webapp.handler import OneThreadHandler  # noqa: E402
from webapp.live.consumer import LiveConsumer  # noqa: E402

# Django's path() is typed for views; Channels gives it ASGI apps.
sockets = URLRouter([path("ws/live", LiveConsumer.as_asgi())])  # type: ignore[arg-type,list-item]
application = ProtocolTypeRouter({"http": BodyLimit(OneThreadHandler()), "websocket": SocketAuth(sockets)})
