"""The judge outside: what a notebook's answers are worth, and what the learner is told."""
