"""From a model to a module: compiler.py, which is takt.compile(), and what it uses."""
