"""Schedules small enough to be checked by hand."""
