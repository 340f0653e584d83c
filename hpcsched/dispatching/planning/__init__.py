"""What dispatchers that plan share: from a dispatching problem to arrays, and back.

`selection` picks the jobs and nodes that matter and puts them into `ModelData`, where times and
amounts are whole numbers; a `Plan` gives each job a start and nodes; `list_plans` makes plans by
list scheduling.
"""
