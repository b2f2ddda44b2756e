"""What people read of a grade: the autograded notebook and the feedback page."""
