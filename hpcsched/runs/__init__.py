"""The life of a run: assembly of a scenario, replay, progress, and the run directory."""
