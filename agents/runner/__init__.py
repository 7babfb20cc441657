"""One process per attempt and node: torch's own elastic agent, recording all that it sees and does.

Standard library and torch only, Python 3.10 or later, since it runs in the job's own interpreter.
"""
