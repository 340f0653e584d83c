"""Hardware: node groups, free resources, allocations, shared resources and outages."""
