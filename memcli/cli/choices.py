"""The words that options take, where no setting lists them."""

SHELLS = ("bash", "zsh", "fish")  # that there is a completion script for
SEARCH_FORMATS = ("text", "json", "jsonl", "markdown", "paths", "paths0")
CONTEXT_FORMATS = ("markdown", "json")
SUMMARIZERS = ("extractive", "command")
