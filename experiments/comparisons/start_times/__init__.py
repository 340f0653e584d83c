"""Forecasts of start times beside what knows less: a mean, and a regression on the queue."""
