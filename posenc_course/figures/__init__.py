"""Every picture of the book, one module for each subject. Each function returns a `Picture`."""
