"""What hpcsched ships for plugin authors: it catches what it says, and accepts what is right."""
