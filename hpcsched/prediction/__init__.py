"""Run-time predictors: estimates that dispatchers plan with."""
