"""Run-time predictors: what a dispatcher is told to expect."""
