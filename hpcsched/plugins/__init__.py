"""How trace sources, predictors, dispatchers and the rest come in: one way for all of them."""
