"""Runs the built program as a user does; its path is the first argument of each test file."""
import json
import pathlib
import subprocess
import sys
import time
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SCHEMA = PROJECT / "results_schema" / "report.schema.json"


def run(*arguments, cwd=None, timeout=120):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=cwd,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def registered_ops():
    lines = (PROJECT / "suites/ops/registry.inc").read_text().splitlines()
    return [line for line in lines if line.startswith("BIC_OP")]


def refuse_float(text):
    raise ValueError(f"{text} is a floating-point number")


def parse(text):
    return json.loads(text, parse_float=refuse_float, parse_constant=refuse_float)


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
