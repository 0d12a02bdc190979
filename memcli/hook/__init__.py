"""What an agent's hooks get from the memory: the context of a session, the notes for a prompt.

Tables and pure functions, and the file of a session; the process around them is the command's.
"""
