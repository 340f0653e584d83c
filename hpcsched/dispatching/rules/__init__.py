"""Dispatchers that follow rules: list scheduling, EASY, and what they are made of."""
