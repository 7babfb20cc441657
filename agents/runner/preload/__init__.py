"""Workers that begin with torch imported: they fork from an interpreter halted in front of the script.

``server`` is the runner's side, ``halt/sitecustomize`` the fork server's own, ``forked`` one worker,
``handlers`` the place where torch's agent is made to start its workers this way.
"""
