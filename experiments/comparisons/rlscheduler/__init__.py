"""Shows table V of Zhang and others (RLScheduler, SC 2020), run from rlscheduler.yaml."""
