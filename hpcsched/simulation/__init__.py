"""The discrete-event simulator: it knows protocols, not plugins."""
