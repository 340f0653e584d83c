"""Recorded dispatching problems: the file, recording, solving, comparing, and the commands."""
