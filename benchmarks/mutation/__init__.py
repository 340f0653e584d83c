"""Mutation testing: small changes to the source, each of which a test should notice."""
