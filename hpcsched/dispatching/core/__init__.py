"""The compiled core: the state of a replay as arrays, the rules on it, and the loop of events.

Everything here works on arrays alone and releases the interpreter's lock, so that many replays run
in one process, in threads. What turns jobs into arrays and back is `hpcsched.simulation`.
"""
