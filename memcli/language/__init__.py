"""Word tables, stems, and what the words of a line mean: rules, changes, names; pure."""
