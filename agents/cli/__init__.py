"""The command line ``regroup``: the hub's API for people in a shell, and for their scripts.

It needs httpx, typer and rich (``regroup-agent[cli]``), and neither the daemon nor the hub. What a command
prints as its answer goes to stdout, all that is said beside it to stderr.
"""
