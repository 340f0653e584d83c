"""Compiled core: the state of a replay as arrays, the rules on it, and the event loop.

Everything here works on arrays alone and releases the interpreter's lock, so that many replays run
in one process, in threads. `hpcsched.simulation` converts jobs to arrays and back.
"""
