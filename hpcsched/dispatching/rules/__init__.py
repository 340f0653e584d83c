"""Rule-based dispatchers: list scheduling, backfilling, their queue orders and allocators."""
