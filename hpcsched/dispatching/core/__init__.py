"""Compiled core: the state of a replay as arrays, the rules on it, and the event loop.

Everything here works on arrays alone and releases the interpreter's lock, so that many replays run
in one process, in threads. `hpcsched.simulation` converts jobs to arrays and back.

Names of parameters that are the same everywhere, and are not explained again: `state`, the state of
the replay; `row`, the row of a job in its table; `now`, simulated time in seconds; `by_node`, True
where units are placed node by node, and None where slots are counted; `explains`, True to note
reasons, and None otherwise; `pressure`, the pressure on each resource type, `[R]`; `steps` and
`profile`, the plan of a round by count or by node, of which the other is None; `shared_free`, None
in a replay without shared resources.
"""
