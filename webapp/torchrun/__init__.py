"""torchrun's command line, read into a spec and written from one. Pure: no database, no clock, no torch."""
