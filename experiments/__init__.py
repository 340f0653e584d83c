"""Published comparisons: experiments declared as data, and what shows what they came to.

Each is an experiment, NAME.yaml, which `hpcsched experiment` runs, and a package NAME, which makes
tables and pictures of the finished experiment's folder. What they share is here: `finished` reads
that folder, `command` is their command line, `block` fills in pages of the documentation,
`distributions` and `boxes` are box plots of slowdowns and queues, `pictures` other pictures,
`markdown` tables, `declaring` reads YAML files. `postpone` and `same_problems` are no experiments:
they ask dispatchers recorded problems, by `asking`.
"""
