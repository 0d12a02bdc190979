"""Files to index: what has changed is read, chunked, stored and embedded."""
