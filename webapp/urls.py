"""Addresses: the API, the health check, and the page for all the rest."""

from __future__ import annotations

from django.urls import path, re_path

from .api import api
from .health import healthz
from .page import asset, page

handler400 = "webapp.page.bad_request"
urlpatterns = [
    path("api/", api.urls),
    path("healthz", healthz),
    re_path(r"^assets/(?P<name>[\w-][\w.-]*)$", asset),
    re_path(r"^(?!api/|ws/|static/|assets/).*$", page),
]
