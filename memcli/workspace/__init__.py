"""From folders on disk to documents: locate, list, compare, date and read them."""
