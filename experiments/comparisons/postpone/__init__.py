"""Compares schedule-or-postpone with CP-SAT on the same dispatching problems.

It does so by the figures of Galleguillos, Kiziltan and Soto (CP 2021, section 5.1): figures 7 and 8
are ratios of the time of a decision and of fails, on problems that a replay of a log has saved.
"""
