"""Which process does the work: the pool, a cluster, or one aside for what may cost too much."""
