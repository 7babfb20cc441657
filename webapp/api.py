"""The HTTP API: one object that holds every app's routes, and the rule for who may use them."""

from __future__ import annotations

from ninja import NinjaAPI

from . import errors
from .accounts.api import router as accounts
from .accounts.auth import BY_ROLE, known_only
from .fleet.api import router as fleet
from .health import router as health
from .jobs.api import router as jobs
from .jobs.nodes_api import router as nodes
from .parser import FitForRows

api = NinjaAPI(
    title="Regroup",
    version="1",
    description="The control room for PyTorch Elastic jobs.",
    urls_namespace="api",
    auth=BY_ROLE,
    parser=FitForRows(),
    docs_decorator=known_only,
)
errors.install(api)
api.add_router("", accounts)
api.add_router("", jobs)
api.add_router("", nodes)
api.add_router("", fleet)
api.add_router("", health)
