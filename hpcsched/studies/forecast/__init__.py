"""Forecasts of start times: distributions over futures that a scenario's dispatcher replays."""
