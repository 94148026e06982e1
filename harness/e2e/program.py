"""Runs the built program as a user does; its path is the first argument of each test file."""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SCHEMA = PROJECT / "results_schema" / "report.schema.json"


# What a launcher that runs these tests may have set; a test that means a shard sets its own.
LAUNCHERS = re.compile(r"(G?TEST_|BIC_)(SHARD_|TOTAL_SHARDS)|OMPI_|SLURM_|JOB_COMPLETION_INDEX"
                       r"|RANK$|WORLD_SIZE$")


def environment(**more):
    return {k: v for k, v in os.environ.items() if not LAUNCHERS.match(k)} | more


def run(*arguments, cwd=None, timeout=120, env=None):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=env or environment(),
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def python_with_numpy():
    """The first Python with NumPy: Debian's has the package that ci/setup installs."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    sys.exit("no Python with NumPy here; ci/setup installs Debian's python3-numpy")


def registered_ops():
    lines = (PROJECT / "suites/ops/registry.inc").read_text().splitlines()
    return [line for line in lines if line.startswith("BIC_OP")]


def refuse_float(text):
    raise ValueError(f"{text} is a floating-point number")


def parse(text):
    return json.loads(text, parse_float=refuse_float, parse_constant=refuse_float)


def timeless(report):
    """The report without what a clock, a command line, the number of shards or a kill says."""
    kept = copy.deepcopy(report)
    for key in ["started", "duration_ns", "command_line"]:
        del kept["run"][key]
    if kept["run"].pop("killed_workers", 0):
        verdict = kept["verdict"]
        verdict["why_not_certifiable"].remove("killed workers")
        verdict["text"] = verdict["text"].replace("killed workers, ", "")
    kept.pop("shards", None)
    for row in kept["ops"]:
        row.pop("throughput", None)
    return kept


def words_of_schema(definition):
    return json.loads(SCHEMA.read_text())["definitions"][definition]["enum"]


class ProgramTest(unittest.TestCase):
    def assert_refused(self, arguments, *parts, cwd=None):
        """Exit 2 before any work, and one line on stderr that holds the parts."""
        begin = time.monotonic()
        ran = run(*arguments, cwd=cwd)
        self.assertLess(time.monotonic() - begin, 2, ran.stderr)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, ran.stderr)
