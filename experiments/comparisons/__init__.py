"""Shared parts of the scripts beside: tables and figures of finished experiments.

`finished` reads the folder of an experiment, `command` is the command line of a script, `block`
fills in pages of the documentation, `distributions` and `boxes` draw box plots, `pictures` other
figures, `markdown` writes tables, `declaring` reads YAML files, `asking` asks dispatchers recorded
problems. Each folder holds the parts of one comparison, with the published figures in `paper` or
`papers`.
"""
