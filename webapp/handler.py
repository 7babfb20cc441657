"""Django under ASGI, where all that answers is synchronous: middleware and views.

Django's own handler takes each piece of middleware that could be asynchronous for one that is, and changes
the thread for each of them twice. Here a request is answered in one go, by the one thread that it has.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
