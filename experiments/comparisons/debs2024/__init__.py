"""Shows the comparison of Goponenko and others (DEBS 2024), run from debs2024.yaml.

`shown.yaml` says what is shown and what the paper has, `declaration` reads it, `results` reads what
runs came to, `table`, `figures` and `queues` show that.
"""
