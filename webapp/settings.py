"""Django's settings. Everything that differs between installations is read in ``env``."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.wire.code import MOST_FILES

from . import env
from .brokers import layer_host

ROOT = Path(__file__).resolve().parent.parent
DATA = env.data_folder()
FRONTEND = Path(os.environ.get("REGROUP_FRONTEND") or ROOT / "frontend" / "dist")
"""The built page. Its files are listed when a web process starts."""

DEBUG = env.read_flag("REGROUP_DEBUG")
SECRET_KEY = env.secret_key(DATA)
SECRET_ENV_KEY_FILE = env.secret_env_key_file(DATA)
ALLOWED_HOSTS = env.allowed_hosts()
REDIS_URL = env.redis_url()
DATABASES = {"default": env.database(DATA)}
USER_SLOTS = env.read_number("REGROUP_USER_SLOTS")
USER_JOBS = env.read_number("REGROUP_USER_JOBS")
"""What one person's jobs may have at a time: slots, and jobs that run. 0: as many as there are."""
HUB_URL = env.hub_url()
"""Where nodes reach the hub, to fetch uploaded code; empty: not known."""
EXAMPLES_DIR = Path(os.environ.get("REGROUP_EXAMPLES_DIR") or ROOT / "examples")
"""Where the nodes find the examples too. The form offers them only where this folder is."""

LOG_STORE = env.log_store()
"""Where the logs of workers that have ended are kept too; empty: nowhere."""

ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
AUTH_USER_MODEL = "accounts.Account"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
APPEND_SLASH = False

DATA_UPLOAD_MAX_NUMBER_FILES = MOST_FILES
"""A folder is uploaded as its files, which go to the disk while they come."""

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "webapp",
    "webapp.accounts",
    "webapp.events",
    "webapp.fleet",
    "webapp.jobs",
    "webapp.ingest",
]

MIDDLEWARE = [
    "webapp.middleware.ApiErrors",
    "django.middleware.security.SecurityMiddleware",
    "webapp.middleware.ContentPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

API_DOCS = Path(str(getattr(find_spec("ninja"), "origin", ""))).parent
"""Templates and files of the page that describes the API. As an installed app, ninja would be imported by
every process. That takes half a second, and only web has a use for it."""

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [API_DOCS / "templates"],
        "APP_DIRS": True,
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

SESSION_COOKIE_NAME = "regroup_session"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_NAME = "regroup_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = False  # the page reads it and sends it back as X-CSRFToken
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATICFILES_DIRS = [API_DOCS / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 3600
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[\w-]{8}\.\w+$"
"""Vite puts a hash of the content into these names."""
if FRONTEND.is_dir():
    WHITENOISE_ROOT = FRONTEND

CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [layer_host(REDIS_URL)], "prefix": "regroup"},
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Each answer with 4xx is the client's business; those with 5xx are logged where they are made.
        "django.request": {"level": "CRITICAL"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "django": {"handlers": [], "propagate": True, "level": "WARNING"},
        # Several tasks a second that found nothing to do are no news.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.worker.request": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
