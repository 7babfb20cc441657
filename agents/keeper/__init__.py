"""The store keeper: a process of its own that keeps an attempt's c10d store, on one of its nodes.

It outlives the runners of all nodes and every restart of the node agent, and ends with the attempt.
Standard library and torch only.
"""
