"""How predictors are evaluated: asking them, figures, choosing, files."""
