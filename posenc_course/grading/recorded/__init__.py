"""What is kept of a grade: the journal, and nbgrader's gradebook."""
