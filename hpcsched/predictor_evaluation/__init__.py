"""How good predictors are on a trace, without any dispatching."""
