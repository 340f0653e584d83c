"""Shows tables 1 and 2 of Galleguillos, Kiziltan and Soto (CP 2021), run from cp2021.yaml.

`paper` has what the paper prints, `table` sets it beside what runs came to.
"""
