"""Takes the fixtures that hpcsched ships."""

pytest_plugins = ["hpcsched.testing"]
