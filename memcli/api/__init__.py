"""The operations on a workspace, shared by the command line, Python and the servers."""
