"""How a class did: `posenc report`, and marks for other programs."""
