#!/usr/bin/env python3
"""--against: two backends must give the same bits, or the run says where they do not."""
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

import program

PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
NUMPY = f"python:{program.PROJECT / 'adapters/python/examples/numpy_ops.py'}"
SIZES = ("--dims", "k=64,n=8", "--batch", "1,5,33")


def plugin(name):
    return f"plugin:{(PLUGINS / name).parent.resolve() / name}.so"


class Peer(program.ProgramTest):
    def judge(self, backend, peer, *arguments, code):
        with tempfile.TemporaryDirectory() as folder:
            ran = program.run("--backend", backend, "--against", peer, "--dtype", "fp32",
                              "--no-perf", "--out", folder, *arguments)
            self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
            report = program.parse((pathlib.Path(folder) / "report.json").read_text())
        self.cases = [c for c in report["cases"] if ".peer/" in c["case"]]
        return ran, report

    def statuses(self):
        return {c["status"] for c in self.cases}

    def test_that_does_the_same_sums_agrees(self):
        ran, report = self.judge(plugin("mm"), plugin("products"), "--op", "mm", *SIZES, code=0)
        self.assertEqual(self.statuses(), {"pass"})
        self.assertEqual(report["verdict"]["level"], "BI-3")
        self.assertIn(f"; the same bits as {plugin('products')} on 1 op\n", ran.stdout)
        self.assertIn(f"\nagainst {plugin('products')}\n", ran.stdout)
        self.assertEqual(report["subject"]["backend"], plugin("mm"))
        self.assertEqual(report["peer"]["backend"], plugin("products"))
        libraries = [library["name"] for library in report["peer"]["libraries"]]
        self.assertIn("products.so", libraries)
        row = {r["relation"]: r for r in report["ops"][0]["relations"]}["peer"]
        self.assertTrue(row["required"])
        self.assertGreaterEqual(row["counted_problems"], 5)

    def test_may_be_of_another_kind_and_language(self):
        self.judge(plugin("mm"), NUMPY, "--python", program.python_with_numpy(), "--op", "mm",
                   *SIZES, code=0)
        self.assertEqual(self.statuses(), {"pass"})
        self.judge(NUMPY, plugin("mm"), "--python", program.python_with_numpy(), "--op", "mm",
                   "--relation", "peer", *SIZES, code=3)
        self.assertEqual(self.statuses(), {"pass"})

    def test_that_splits_its_sums_fails_where_it_does(self):
        peer = plugin("products_split")
        ran, report = self.judge(plugin("mm"), peer, "--op", "mm", *SIZES, code=1)
        for case in self.cases:
            split = ":B33" not in case["case"]
            self.assertEqual(case["status"], "fail" if split else "pass", case)
            self.assertEqual(case["reasons"], ["bits"] if split else [])
        self.assertEqual(report["ops"][0]["level"], "BI-3", "which no peer can take away")
        self.assertEqual(report["ops"][0]["why"], "peer failed")
        self.assertEqual({f["shrunk"]["reasons"][0] for f in report["failures"]}, {"bits"})
        self.repeats([line for line in ran.stdout.splitlines() if line.startswith("repro: ")][0])

    def repeats(self, line):
        words = shlex.split(line.removeprefix("repro: "))
        self.assertEqual(words[1], "repro")
        self.assertIn("--against", words)
        ran = program.run(*words[1:])
        self.assertEqual((ran.returncode, ran.stderr), (1, ""))
        self.assertIn("status: fail", ran.stdout)
        at = words.index("--against")
        self.assert_refused(words[1:at] + words[at + 2:], "name the other one with --against")
        same = words[1:at + 1] + [plugin("mm")] + words[at + 2:]
        self.assertEqual(program.run(*same).returncode, 0, "and agrees with itself")

    def test_is_not_asked_for_what_it_does_not_claim(self):
        ran, _ = self.judge(plugin("mul"), plugin("mm"), "--op", "mul", code=3)
        self.assertEqual(self.statuses(), {"unsupported"})
        self.assertIn("no op is both in the backend's manifest and in its peer's", ran.stdout)

    def test_path_is_quoted_for_the_shell(self):
        with tempfile.TemporaryDirectory(prefix="it's a ") as folder:
            moved = pathlib.Path(folder) / "split sums.so"
            shutil.copy(PLUGINS / "products_split.so", moved)
            ran, _ = self.judge(plugin("mm"), f"plugin:{moved}", "--op", "mm", "--relation", "peer",
                                "--timeout", "20s", "--memory", "2GiB", *SIZES, code=1)
            line = [line for line in ran.stdout.splitlines() if line.startswith("repro: ")][0]
            for words in ["--timeout 20s", "--memory 2GiB"]:
                self.assertIn(words, line)
            again = subprocess.run(line.removeprefix("repro: "), shell=True, text=True,
                                   stdout=subprocess.PIPE, timeout=60)
            self.assertEqual(again.returncode, 1)
            self.assertIn(line, again.stdout)


class Refusal(program.ProgramTest):
    def refuses(self, *arguments, parts):
        self.assert_refused(["--backend", plugin("mm"), "--op", "mm", *arguments], *parts)

    def test_names_the_flag_and_what_to_do(self):
        self.refuses("--relation", "peer", parts=["--relation peer", "--against"])
        self.refuses("--against", plugin("mm"), "--relation", "alone",
                     parts=["--against has nothing to do"])
        self.refuses("--against", plugin("mm"), "--isolation", "none",
                     parts=["--against", "leave out --isolation none"])
        self.refuses("--against", "plugin:/no/such.so", parts=["--against: '/no/such.so'"])
        self.refuses("--against", "libtorc", parts=["--against: unknown backend 'libtorc'"])
        self.refuses("--against", plugin("has_a_null_run"), parts=["did not start", "a null run"])
        self.refuses("--against", plugin("mm"), "--python", "python3",
                     parts=["--python is for"])


if __name__ == "__main__":
    unittest.main()
