"""Dispatchers, the dispatching problems they are given and the decisions they return."""
