"""The context of a session and the notes for a prompt, which an agent's hooks ask for.

Tables, pure functions and one file per session; the command runs the process around them.
"""
