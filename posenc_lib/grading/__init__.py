"""The course side: release exercises to learners, and grade what comes back."""
