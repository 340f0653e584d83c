"""Planning a whole trace at once, with every job and every real run time known in advance.

No real system can do that; it tells how far any on-line dispatcher is from what was possible (the
off-line schedules of Goponenko et al., DEBS 2024, sections 2.3 and 4).

`problem` holds the question and the answer, `planner` puts the parts together: plans in several
orders (`initial_schedules`), a search in windows of time (`windows`), a solver for what is small
(`exact`), and lower bounds (`bounds`). `following` carries a plan out, and `dispatchers` adds all
this to dispatchers that plan on-line.
"""
