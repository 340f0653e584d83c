"""The hardware: node groups, what is free on them, and where jobs are placed."""
