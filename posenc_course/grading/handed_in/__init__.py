"""What learners handed in, which nobody vouches for: it is read here, and looked for."""
