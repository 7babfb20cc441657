"""Holds nothing but ``sitecustomize.py``: this folder is in front of a fork server's ``PYTHONPATH``."""
