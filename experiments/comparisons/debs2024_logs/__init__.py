"""Shows table 2 of Goponenko and others (DEBS 2024) on five logs, run from debs2024_logs.yaml.

`paper` has what the paper prints, `shares` what runs came to, `last_to_end` that without
the last jobs, `tables` shows all of it.
"""
