"""What can be done with a workspace, for every skin: the command line, scripts, servers."""
