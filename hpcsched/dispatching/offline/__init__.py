"""Planning a whole trace at once, with every job and every real run time known in advance.

No real system can do that; it tells how far any on-line dispatcher is from the possible optimum
(the off-line schedules of Goponenko et al., DEBS 2024, sections 2.3 and 4).

`offline_problem` holds the question and the answer, `planner` puts the parts together: schedules in
several orders and a large neighbourhood search, a solver for small traces (`exact_plans`), and
lower bounds (`bounds`). `order_search_dispatcher` plans both on-line and off-line.
"""
