"""Shows what predictions are worth to dispatchers on two logs, run from predictors.yaml."""
