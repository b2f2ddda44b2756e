"""Games with the course's subject, each drawn by a seed: the same seed gives the same one everywhere.

`breaking`: an encoding promises too much, and an example breaks the promise. `bugs`: a solution with one
mistake in it. `mystery`: a model whose encoding measurements give away. `page` is what the page asks.
"""
