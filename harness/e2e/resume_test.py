#!/usr/bin/env python3
"""What was judged is never lost: a run that was cut, killed or ran out of disk goes on."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import disturb
import program

WHAT = (*disturb.CONFORMING, *disturb.COMMON)
SMALL = (*WHAT, "--relation", "alone", "--relation", "accuracy", "--batch", "1,5")
# Disks that are full before the first and before the last problem's end, and before the report's.
ROOMS = [f"{kib}k" for kib in (16, 64, 160)]


class Folder(program.ProgramTest):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "run"

    def assert_line(self, ran, code, *parts):
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(str(part), ran.stderr)

    def resume_as_told(self, stdout):
        """Types the last line of a run that was cut."""
        line = re.search(r"^go on with: (.+)\Z", stdout.strip(), re.MULTILINE)
        self.assertIsNotNone(line, stdout)
        return program.run(*shlex.split(line[1])[1:])

    def assert_as_undisturbed(self, what):
        plain = self.folder / "undisturbed"
        program.run(*what, "--out", plain)
        self.assertEqual(disturb.compare(self.out, plain), "")


class Cut(Folder):
    def test_by_a_budget_goes_on(self):
        ran = program.run(*WHAT, "--budget", "300ms", "--out", self.out)
        self.assertEqual(ran.returncode, 3, ran.stdout)
        again = program.run(*WHAT, "--resume", self.out)
        self.assertEqual((again.returncode, again.stderr), (0, ""), again.stdout)
        self.assertRegex(again.stdout, r"\Aresumed: [1-9]\d* of 22 problems are in the journal of ")
        self.assert_as_undisturbed(WHAT)

    def test_by_an_interrupt_says_how_to_go_on(self):
        for end in (signal.SIGINT, signal.SIGHUP):
            with self.subTest(end):
                self.go_on_after(end)

    def go_on_after(self, end):
        shutil.rmtree(self.out, ignore_errors=True)
        begun = subprocess.Popen([program.PROGRAM, *WHAT, "--out", self.out],
                                 preexec_fn=lambda: signal.signal(end, signal.SIG_DFL),  # nohup's
                                 env=program.environment(), stdout=subprocess.PIPE, text=True)
        while disturb.Disturber.journal(self.out).count(b'"problem"') < 2:
            time.sleep(0.01)
        begun.send_signal(end)
        stdout = begun.communicate()[0]
        self.assertEqual(begun.returncode, 3, stdout)
        self.assertIn("incomplete: interrupted after", stdout)
        again = self.resume_as_told(stdout)
        self.assertEqual((again.returncode, again.stderr), (0, ""), again.stdout)
        self.assert_as_undisturbed(WHAT)

    def test_of_a_shard_is_told_the_folder_of_all_however_it_was_typed(self):
        what = (*SMALL, "--dtype", "fp64", "--shard", "1/2", "--budget", "1ms")
        ran = program.run(*what, "--out", f"{self.out}/")
        again = self.resume_as_told(ran.stdout)
        self.assertEqual((again.returncode, again.stderr), (3, ""), again.stdout)

    def test_by_kills_at_random_moments_goes_on(self):
        disturber = disturb.Disturber(seed=1, kills=24, pace=0.2)
        differences = disturb.disturb_all(disturber, [disturb.CONFORMING, disturb.FAILING], self.folder)
        self.assertEqual(differences, [])
        self.assertGreater(disturber.count["of the program"], 3)
        self.assertGreater(disturber.count["of a worker"], 3)


class Refusal(Folder):
    def test_of_a_folder_without_a_journal_or_with_a_complete_one(self):
        self.assert_line(program.run(*SMALL, "--resume", self.out), 2, "there is no journal.jsonl")
        program.run(*SMALL, "--out", self.out)
        self.assert_line(program.run(*SMALL, "--resume", self.out), 2, "is complete", "report.json")

    def test_of_another_folder_in_out(self):
        self.assert_refused([*SMALL, "--resume", "a", "--out", "b"], "--out 'b'", "'a'")

    def test_of_another_run_says_what_differs(self):
        program.run(*SMALL, "--budget", "1ms", "--out", self.out)
        ran = program.run(*SMALL, "--seed", "7", "--resume", self.out)
        self.assert_line(ran, 4, "seed is 000000000000b1c0 there and 0000000000000007 now",
                         f"--budget 1ms --out {self.out}")
        ran = program.run(*SMALL, "--level", "BI-1", "--resume", self.out)
        self.assert_line(ran, 4, "the plan (ops, sizes, filters, declared files) is ")
        ran = program.run(*SMALL[:1], disturb.FAILING[1], *SMALL[2:], "--resume", self.out)
        self.assert_line(ran, 4, "backend is plugin:", "leaves_one_out.so now")

    def test_of_the_same_plug_in_built_anew(self):
        plugin = self.folder / "mm.so"
        what = ["--backend", f"plugin:{plugin}", *SMALL[2:]]
        shutil.copy(disturb.PLUGINS / "mm.so", plugin)
        program.run(*what, "--budget", "1ms", "--out", self.out)
        with plugin.open("ab") as file:
            file.write(b"\0")
        self.assert_line(program.run(*what, "--resume", self.out), 4, "library mm.so is sha256 ")

    def test_of_a_damaged_journal_names_file_and_line(self):
        program.run(*SMALL, "--budget", "1ms", "--out", self.out)
        journal = self.out / "journal.jsonl"
        journal.write_bytes(journal.read_bytes().replace(b"b1c0", b"b1c1", 1) + b"{}\n")
        self.assert_line(program.run(*SMALL, "--resume", self.out), 4, journal, "line 1: ")


class Disk(Folder):
    def test_that_is_full_keeps_what_was_judged(self):
        for room in ROOMS:
            with self.subTest(room):
                self.out = self.folder / room
                self.out.mkdir()
                mount = ["mount", "-t", "tmpfs", "-o", f"size={room}", "none", self.out]
                if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
                    self.skipTest("no file system can be mounted here")
                self.addCleanup(subprocess.run, ["umount", self.out])
                ran = program.run(*WHAT, "--out", self.out)
                self.assert_line(ran, 4, "cannot write", "No space left on device")
                more = ["mount", "-o", "remount,size=64m", self.out]
                subprocess.run(more, check=True)
                again = self.resume_as_told(ran.stdout)
                self.assertEqual((again.returncode, again.stderr), (0, ""))
                self.assertRegex(again.stdout, r"\Aresumed: \d+ of 22 problems")
                self.assert_as_undisturbed(WHAT)

    def test_that_is_read_only_is_one_line(self):
        program.run(*SMALL, "--budget", "1ms", "--out", self.out)
        for path in (self.out / "journal.jsonl", self.out):
            path.chmod(path.stat().st_mode & ~0o222)
        # The superuser may write everywhere.
        user = 65534 if os.getuid() == 0 else None
        self.folder.chmod(0o755)
        for flag in ("--resume", "--out"):
            ran = subprocess.run([program.PROGRAM, *SMALL, flag, self.out], user=user,
                                 env=program.environment(), capture_output=True, text=True)
            self.assert_line(ran, 2, self.out, "ermission denied" if flag == "--resume" else "")
        self.out.chmod(0o755)


if __name__ == "__main__":
    unittest.main()
