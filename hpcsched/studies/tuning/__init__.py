"""Tuning: parameters of a scenario are searched on a part of a log and judged on a later part."""
