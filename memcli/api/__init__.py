"""What can be done with a workspace, shared by the command line, Python and the servers."""
