"""The index file: all SQL, and the text its keyword rows are built on."""
