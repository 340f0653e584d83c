"""Asks the dispatchers of three papers the same problems, and shows how they compare.

It has figures 6 to 9 of CP 2021, figures 6 and 7 of PCP'20 (preprint), and tables 6.2 and 6.3 and
figures 6.7 to 6.13 of Galleguillos's thesis of 2020. `questions` records problems and asks them,
`papers` has what each paper shows, `table` and `plots` make that of the answers.
"""
