"""A first look at a log: its format, a machine for it, and dispatchers compared on it."""
