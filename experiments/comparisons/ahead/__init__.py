"""Shows `hyper` and `order-search` beside seven rules on eleven logs, run from ahead.yaml."""
