"""Studies of many runs: experiments, `whatif`, tuning, problems, predictors, forecasts."""
