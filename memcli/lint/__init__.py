"""Find bad content in parsed documents: one rule for each code. It changes nothing."""
