#!/usr/bin/env python3
"""first_paint.py PAGE: how soon headless Chromium shows a page, in five windows one after the other.

No test: it is a time, which depends on the machine (docs/html.md has one).
"""
import pathlib
import statistics
import sys
import time

import browser

FIRST = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def paint(page):
    """Milliseconds to the first paint with content, and to the list of cases."""
    with browser.Browser(browser.find()) as window:
        begin = time.monotonic()
        window.open(page.as_uri())
        window.wait_for("document.querySelector('#case-rows').children.length > 0")
        listed = 1000 * (time.monotonic() - begin)
        window.wait_for(FIRST)
        return window.evaluate(FIRST), listed


file = pathlib.Path(sys.argv[1]).resolve()
times = [paint(file) for _ in range(5)]
for what, of in (("first paint", 0), ("cases listed", 1)):
    ms = sorted(t[of] for t in times)
    print(f"{what}: {statistics.median(ms):.0f} ms ({ms[0]:.0f} to {ms[-1]:.0f})")
print(f"{file.stat().st_size / 1e6:.1f} MB")
