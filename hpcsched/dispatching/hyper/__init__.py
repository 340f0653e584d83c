"""The dispatcher `hyper`, which chooses from a portfolio of others by replaying the past."""
