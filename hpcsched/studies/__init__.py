"""Questions asked of many runs: experiments, what-if, tuning, problems, predictors, forecasts."""
