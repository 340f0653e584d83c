"""Plugins: hook specifications, registry, and the index of built-in plugins."""
