"""The auditor: checks a run against its trace and system by means of its own.

It shares no code with the engine, with the spaces that it keeps room in, or with the metrics: what
they get wrong, it can see.
"""
