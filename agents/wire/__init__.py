"""The language between hub, nodes and browser.

Standard library only (``codec`` alone imports pydantic), so that the runner can
speak it inside any job's own Python environment.
"""
