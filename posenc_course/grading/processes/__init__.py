"""Which process does the work: one of the pool's, or one aside, for what may cost too much."""
