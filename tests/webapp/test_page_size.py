"""What a browser loads before it shows anything, as the hub sends it."""

from __future__ import annotations

import re

from django.conf import settings
from django.test import Client

MOST_BYTES = 300 * 1024


def test_the_first_page_is_at_most_300_kib_on_the_wire(client: Client) -> None:
    page = settings.FRONTEND / "index.html"
    assert page.is_file(), "The page has not been built. Run npm run build in frontend/."
    sizes = {"index.html": page.stat().st_size}
    for path in re.findall(r'(?:src|href)="(/assets/[\w.-]+)"', page.read_text()):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        sizes[path] = int(answer["Content-Length"])
        # A file of some bytes is no smaller when it is compressed, and is sent as it is.
        assert answer.get("Content-Encoding") == "gzip" or sizes[path] < 1024
    assert len(sizes) > 1
    assert sum(sizes.values()) <= MOST_BYTES, sizes
