"""How the runners of an attempt find together: torch's dynamic rendezvous, a fresh store per round."""
