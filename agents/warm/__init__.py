"""A process that has imported torch before anybody knows what for: runners and store keepers fork from it."""
