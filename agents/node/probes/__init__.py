"""Looks at this machine: each module answers one question, and "not known" or "none" is an answer."""
