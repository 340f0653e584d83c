"""Live dispatching: a scenario's dispatcher asked about a real cluster, round by round."""
