"""Every picture of the book, one module per chapter. Each function returns a `Picture`."""
