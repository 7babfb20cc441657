"""The supervisor, on a disk that may be full: what it cannot write into its log must not end it.

``python -m webapp.stack.supervisord DATA -c FILE``: paths in the file are relative to the data folder.
"""

from __future__ import annotations

import os
import sys

from supervisor import supervisord

from agents.output import forgive_full_disks

if __name__ == "__main__":
    os.chdir(sys.argv.pop(1))
    forgive_full_disks()
    supervisord.main()
