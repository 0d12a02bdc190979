"""Search over Markdown memory workspaces, from the command line and offline."""

__version__ = "0.1.0"
