"""Accuracy of run-time predictors on a trace, without dispatching."""
