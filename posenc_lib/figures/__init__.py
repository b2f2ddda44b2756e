"""Every picture of the book, one module a chapter. Each function returns a `Picture`."""
