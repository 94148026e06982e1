#!/usr/bin/env python3
"""annotate.py PAGE REPORT CODE [BASELINE]: the verdict, which heads the page, and the report's failures
that the baseline has not got, as GitHub's workflow commands; the last line is `verdict: …`.

CODE is the exit code of the run or gate: where it is 0, nothing is an error.
"""
import json
import pathlib
import re
import sys

MOST = 10  # GitHub shows no more of one kind


def escaped(text, inside=""):
    """As data of a workflow command; `inside` are more characters that would end a property."""
    for c in "%\r\n" + inside:
        text = text.replace(c, f"%{ord(c):02X}")
    return text


def command(kind, title, text):
    return f"::{kind} title={escaped(title, ':,')}::{escaped(text)}"


def load(path):
    path = pathlib.Path(path)
    return json.loads((path / "report.json" if path.is_dir() else path).read_text())


def failing(report):
    return {c["case"] for c in report["cases"] if c["status"] not in ("pass", "vacuous", "waived",
                                                                     "unsupported", "skipped")}


def verdict_of(page):
    """Its heading, without the Markdown."""
    heading = page.split("\n", 1)[0].removeprefix("## bi-conform: ")
    return re.sub(r"\\([^A-Za-z0-9 ])", r"\1", heading)


def lines(page, report, code, baseline):
    verdict = verdict_of(page)
    yield command("notice" if code == 0 else "error", "bi-conform", verdict)
    old = failing(baseline) if baseline else set()
    new = [f for f in report.get("failures", []) if f["found"] not in old]
    for failure in new[:MOST - 1] if code else []:
        shrunk = failure["shrunk"]
        message = shrunk.get("detail", {}).get("message", "")
        yield command("error", f"{shrunk['status']}: {shrunk['case'].split(':')[0]}",
                      f"{shrunk['case']}\n{message}".strip())
    yield f"verdict: {verdict}"


if __name__ == "__main__":
    baseline = load(sys.argv[4]) if len(sys.argv) > 4 else None
    shown = pathlib.Path(sys.argv[1]).read_text()
    print("\n".join(lines(shown, load(sys.argv[2]), int(sys.argv[3]), baseline)))
