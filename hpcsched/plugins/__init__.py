"""Plugins: hook specifications, registry, and index of built-in plugins."""
