#!/usr/bin/env python3
"""A plan run in parts, by flag or by a launcher's variables, and made one report again."""
import json
import pathlib
import shutil
import tempfile
import unittest

import program

PLUGIN = program.PROGRAM.parent.parent / "lib" / "plugins" / "mm.so"
# Two ops in four dtypes, of which the plug-in claims one: eight rows.
WHAT = ("--backend", f"plugin:{PLUGIN}", "--op", "mm", "--op", "bmm", "--relation", "alone",
        "--relation", "accuracy", "--batch", "1,5", "--no-perf")
BAZEL = {"TEST_SHARD_INDEX": "1", "TEST_TOTAL_SHARDS": "3"}


def report_in(folder):
    return program.parse((folder / "report.json").read_text())


class Shards(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.whole = program.run(*WHAT, "--out", cls.folder / "whole")
        cls.parts = [program.run(*WHAT, "--out", cls.folder, "--shard", f"{i}/3")
                     for i in (1, 2, 3)]

    def merge(self, *paths, out="merged"):
        return program.run("merge", *paths, "--out", self.folder / out)

    def test_are_merged_to_the_report_of_one_run(self):
        merged = self.merge(self.folder)
        self.assertEqual((merged.returncode, merged.stderr), (self.whole.returncode, ""))
        report = report_in(self.folder / "merged")
        self.assertEqual(program.timeless(report),
                         program.timeless(report_in(self.folder / "whole")))
        self.assertEqual([s["index"] for s in report["shards"]], [1, 2, 3])
        self.assertIn("merged from 3 shards", merged.stdout)
        for line in self.whole.stdout.splitlines():
            if line.startswith(("mm ", "bmm ")):
                self.assertIn(line, merged.stdout)
        self.assertIn(report["verdict"]["text"], merged.stdout)

    def test_share_the_rows_and_say_which_they_are(self):
        rows = []
        for number, ran in enumerate(self.parts, 1):
            report = report_in(self.folder / f"shard-{number}-of-3")
            rows += report["run"]["shard"]["rows"]
            self.assertIn(f"shard {number}/3 by --shard\n", ran.stdout)
            self.assertIs(report["verdict"]["certifiable"], False)
            self.assertIn(f"shard {number}/3", report["verdict"]["why_not_certifiable"])
        self.assertEqual(sorted(rows), list(range(8)))

    def test_are_merged_by_their_files_or_folders_in_any_order(self):
        paths = [self.folder / "shard-3-of-3", self.folder / "shard-1-of-3" / "report.json",
                 self.folder / "shard-2-of-3"]
        self.assertEqual(self.merge(*paths, out="again").returncode, self.whole.returncode)

    def test_are_not_merged_when_one_is_missing_or_changed(self):
        first, second, third = (self.folder / f"shard-{i}-of-3" for i in (1, 2, 3))
        self.assert_refused(["merge", first, third], "shard 2/3 is missing", "--partial")
        self.assert_refused(["merge", first, second, third, second], "shard 2/3 is there twice")
        self.assert_refused(["merge", self.folder / "none"], "none")
        report = report_in(third)
        report["run"]["seed"] = "0000000000000007"
        other = self.folder / "other.json"
        other.write_text(json.dumps(report))
        self.assert_refused(["merge", first, second, other], "seed: 000000000000b1c0 and")
        partly = program.run("merge", first, third, "--partial", "--out", self.folder / "partly")
        self.assertEqual(partly.returncode, 3)
        self.assertIn("incomplete: shard 2/3 is missing", partly.stdout)

    def test_are_taken_from_a_launcher_unless_the_flag_says_otherwise(self):
        cases = [(BAZEL, [], "shard 2/3 by TEST_SHARD_INDEX\n"),
                 (BAZEL, ["--shard", "none"], None),
                 (BAZEL | {"TEST_TOTAL_SHARDS": "1", "TEST_SHARD_INDEX": "0"}, [], None),
                 ({"RANK": "3"}, [], None)]
        for variables, flags, line in cases:
            ran = program.run(*WHAT, *flags, "--op", "mm", "--budget", "1ms", "--out",
                              self.folder / "launched", env=program.environment(**variables))
            self.assertEqual("shard" in ran.stdout.splitlines()[2], line is not None, ran.stdout)
            self.assertIn(line or "", ran.stdout)

    def test_refuse_what_cannot_be(self):
        self.assert_refused([*WHAT, "--shard", "0/4"], "'0/4' is neither I/N")
        self.assert_refused([*WHAT, "--shard", "1/9"], "9 shards are too many", "8 rows")
        ran = program.run(*WHAT, env=program.environment(RANK="4", WORLD_SIZE="4"))
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertRegex(ran.stderr, r"\Abi-conform: RANK: '4' is not [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
