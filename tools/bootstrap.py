"""Install and build what a make target needs: `python3 tools/bootstrap.py run|check|test`.

Kept to words that every Python 3 understands, so that a too old one gets a sentence, not a SyntaxError.
"""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "Regroup needs Python 3.11 or newer, and %s is Python %d.%d. "
        "Name a newer one: make run PYTHON=python3.12\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(1)

from install import main

sys.exit(main(sys.argv[1:]))
