"""Run-time predictors and corrections."""
