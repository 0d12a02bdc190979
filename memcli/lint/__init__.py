"""What is rotten in a memory: rules over parsed documents, each with a code; it changes nothing."""
