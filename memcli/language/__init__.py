"""Language: word tables, stems, and what words say of a line: rules, change, names; pure."""
