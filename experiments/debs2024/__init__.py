"""Reruns the comparison of Goponenko and others (DEBS 2024), declared in debs2024.yaml.

`declaration` reads what is declared, `cells` says which runs follow from it, `results` reads what
they came to, `table`, `figures` and `page` show it.
"""
