"""Stored specs get torchrun's own names for two of their fields."""

from __future__ import annotations

from typing import Any

from django.db import migrations

NAMES = {"grace_s": "shutdown_timeout", "monitor_interval_s": "monitor_interval"}


def rename(apps: Any, names: dict[str, str]) -> None:
    jobs = apps.get_model("jobs", "Job").objects
    for job in jobs.only("pk", "spec").iterator():
        if names.keys() & job.spec.keys():
            job.spec = {names.get(key, key): value for key, value in job.spec.items()}
            jobs.filter(pk=job.pk).update(spec=job.spec)


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, editor: rename(apps, NAMES),
            lambda apps, editor: rename(apps, {new: old for old, new in NAMES.items()}),
        )
    ]
