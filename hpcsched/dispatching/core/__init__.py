"""Python side of the compiled core (`hpcsched/cpp`): the state of a replay as arrays.

The core works on these arrays and releases the interpreter's lock, so that many replays run in one
process, in threads. `hpcsched.simulation` converts jobs to arrays and back.
"""
