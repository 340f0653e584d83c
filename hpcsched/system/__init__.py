"""Hardware: node groups, their free resources, and placements of jobs."""
