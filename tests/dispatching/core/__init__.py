"""The compiled core, against the loop of events in Python."""
