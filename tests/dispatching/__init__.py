"""Tests of dispatchers and allocators, and of what they are asked."""
