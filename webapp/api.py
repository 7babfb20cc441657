"""The HTTP API: one object that holds every app's routes, and the rule for who may use them."""

from __future__ import annotations

from django.conf import settings
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger

from . import errors
from .accounts.api import router as accounts
from .accounts.auth import BY_ROLE, known_only
from .fleet.api import router as fleet
from .health import router as health
from .jobs.api import router as jobs
from .jobs.evidence_api import router as evidence
from .jobs.faults_api import router as faults
from .jobs.launch_api import router as launching
from .jobs.many_api import router as many
from .jobs.nodes_api import router as nodes
from .jobs.torchrun_api import router as torchrun
from .jobs.workers_api import router as workers
from .parser import FitForRows
from .uploads.api import router as uploads


class Docs(Swagger):
    """With files of this hub, where ninja would have the browser ask a server elsewhere."""

    template_cdn = str(settings.API_DOCS / "templates" / "ninja" / "swagger.html")


api = NinjaAPI(
    title="Regroup",
    version="1",
    description="The control room for PyTorch Elastic jobs.",
    urls_namespace="api",
    auth=BY_ROLE,
    parser=FitForRows(),
    docs=Docs(),
    docs_decorator=known_only,
)
errors.install(api)
api.add_router("", accounts)
# Before the jobs, as preview and checks are no numbers of any.
api.add_router("", launching)
api.add_router("", torchrun)
api.add_router("", many)
api.add_router("", uploads)
api.add_router("", jobs)
api.add_router("", faults)
api.add_router("", evidence)
api.add_router("", workers)
api.add_router("", nodes)
api.add_router("", fleet)
api.add_router("", health)
