"""Explanations: the reasons for the start time of a job."""
