"""Properties that hold for every system and workload."""
