"""Files in a rank's folder whose age tells when the rank last came forward.

The node agent looks at them, as it does at ``report.jsonl``, so that ages are told by the node's own clock.
"""

MATCHED = "matched"
"""Written by ``runner/log_watch.py``, which can import nothing of ours, at each line that the job's
``stall_log_regex`` matches."""
