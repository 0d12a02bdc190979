"""Update the index: read changed files, cut them into chunks, store and embed these."""
