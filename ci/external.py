#!/usr/bin/env python3
"""external.py PROGRAM: judges openblas and onednn with it and writes their page on stdout."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HEAD = """# External libraries under judgement

What `bi-conform` says of two libraries as Debian ships them, called directly through the C interface for
plug-ins (`adapters/external/`), and of PyTorch with their kernels in the place of its own (`--lift`). They
promise nothing of what is judged here: a red row is no bug of theirs, but a reason not to rely on equal bits.
Other machines run other kernels. `ci/external` makes this page anew: it installs the packages
(`ci/setup libopenblas-openmp-dev libdnnl-dev`), builds, and runs the commands below.
"""
LIBRARIES = {"openblas": "libopenblas-openmp-dev", "onednn": "libdnnl-dev"}
LIFTED = ("linear", "matmul")
VERDICTS = {0: "conforms", 1: "does not conform", 3: "not everything is proved"}


def run(program, *arguments):
    """Its output, exit code and seconds. Ends everything when there is no verdict."""
    begin = time.monotonic()
    ran = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if ran.returncode not in VERDICTS:
        sys.exit(f"external.py: {' '.join(arguments)} ended with {ran.returncode}: "
                 f"{ran.stderr.strip()}")
    return ran.stdout, ran.returncode, round(time.monotonic() - begin)


def flag(name, values):
    return [word for value in values for word in (f"--{name}", value)]


def claims(program, library):
    """Its ops and types, as flags."""
    rows = re.findall(r"^(\w+) +((?:\w+ )*\w+) +own: ", run(program, "support", "--backend",
                                                         library)[0], re.MULTILINE)
    dtypes = dict.fromkeys(t for _, types in rows for t in types.split())
    return [op for op, _ in rows], list(dtypes)


def table(text):
    """The table with its totals and the verdict, without the failures between its rows."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("op "))
    report = next(i for i, line in enumerate(lines) if line.startswith("report: "))
    rows = [line.rstrip() for line in lines[head:report]
            if re.match(r"op |\w+ +(fp32|bf16|fp16|fp64) ", line)]
    totals = next(i for i, line in enumerate(lines) if re.match(r"\d+ cases: ", line))
    return "\n".join(rows + [re.sub(r"; [\d.]+ s$", "", line) for line in lines[totals:report]])


def smallest_failures(report):
    """One line a row and relation, with the smallest case that was found."""
    seen, lines = set(), []
    for failure in report.get("failures", []):
        case = failure["shrunk"]["case"]
        what = re.match(r"([^.]+)\.(\w+)/(\w+)", case)
        key = (what[1].partition("-")[0], what[2], what[3])
        if key not in seen:
            seen.add(key)
            lines.append(f"- {key[0]} {key[2]}, {key[1]}: `{case}`")
    return lines


def section(program, title, arguments):
    with tempfile.TemporaryDirectory() as folder:
        text, code, seconds = run(program, *arguments, "--no-perf", "--out", folder)
        report = json.loads((pathlib.Path(folder) / "report.json").read_text())
    fingerprint, environment = report["subject"]["fingerprint"], report["environment"]
    plugin = fingerprint["plugin"]
    print(f"\n## {title.format(plugin=' '.join(plugin.split()[:2]))}\n```")
    print("bi-conform", *arguments, "--no-perf")
    print(f"{table(text)}\n```")
    print(f"Exit code {code} ({VERDICTS[code]}), {seconds} s, {environment['threads']} threads of "
          f"{environment['cpu']}, {environment['isa']}. The library calls itself {plugin}.")
    if lines := smallest_failures(report):
        print("\nSmallest failing cases found, one for each row and relation:\n")
        print("\n".join(lines))


def main(program):
    print(HEAD, end="")
    for library, package in LIBRARIES.items():
        ops, dtypes = claims(program, library)
        selected = ["--backend", library, *flag("op", ops), *flag("dtype", dtypes)]
        section(program, f"{{plugin}} (`{package}`)", selected)
        lifted = ["--backend", library, "--lift", *flag("op", LIFTED), *flag("dtype", dtypes)]
        section(program, "PyTorch on {plugin}", lifted)


if __name__ == "__main__":
    main(sys.argv[1])
