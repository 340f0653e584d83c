"""What a dispatcher is asked, what it answers, and the dispatchers themselves."""
