"""The local stack: everything that `make run` starts, watches over and ends.

Launches processes and asks them questions; holds no rule of the product and imports no Django.
"""
