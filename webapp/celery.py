"""Celery's app: short tasks that decide and write rows. None of them waits for a training job."""

from __future__ import annotations

import os

from celery import Celery
from django.conf import settings

from .brokers import broker_options, broker_url

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
# Django's checks read the whole API, which neither worker nor beat needs.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("regroup")
app.conf.update(
    broker_url=broker_url(settings.REDIS_URL),
    result_backend=None,
    task_ignore_result=True,
    task_acks_late=False,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue="regroup",
    timezone="UTC",
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={
        "visibility_timeout": 60,
        "socket_connect_timeout": 2,
        "global_keyprefix": "regroup:celery:",
        # Who sends a task gives up at once when the broker is down; the worker reconnects by its own rule.
        "max_retries": 0,
        **broker_options(settings.REDIS_URL),
    },
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
)
# Each entry expires before the next few are due, so that they never pile up while no worker runs.
app.conf.beat_schedule = {
    "reconcile": {"task": "regroup.reconcile", "schedule": 1.0, "options": {"expires": 2}},
    "place": {"task": "regroup.place_queued", "schedule": 1.0, "options": {"expires": 2}},
    "expire": {"task": "regroup.expire_commands", "schedule": 2.0, "options": {"expires": 4}},
    "thin_metrics": {"task": "regroup.thin_metrics", "schedule": 60.0, "options": {"expires": 120}},
}
if settings.LOG_STORE:
    app.conf.beat_schedule["ship logs"] = {
        "task": "regroup.ship_logs",
        "schedule": 2.0,
        "options": {"expires": 4},
    }
app.autodiscover_tasks(["webapp.jobs"])
