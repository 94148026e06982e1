#!/usr/bin/env python3
"""What a run does with the processes that it starts: it bounds their memory, ends at once when it
is told to, and leaves none behind."""
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

import program

PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
SIZES = ("--dims", "k=64,n=8", "--batch", "1,5,33")
NARROW = ("--op", "mm", "--dtype", "fp32", "--relation", "alone", "--no-perf", *SIZES)
STRUCK = ":B33"
CASE = "mm.alone/fp32:k64,n8:B33#0~B1#0:fill=normal:s=0000000000000001"


def backend(name):
    return "--backend", f"plugin:{PLUGINS / name}.so"


def running(word):
    """Numbers of the processes that have the word in their command line; zombies have none."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue  # ended meanwhile
    return found


def stat(pid):
    """The fields of a process that follow its name; of one that has ended, none that is looked at."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X"] + ["0"] * 50


def parent_of(pid):
    return int(stat(pid)[1])


def wait_until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


class ProcessTest(program.ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out"

    def report(self):
        return program.parse((self.out / "report.json").read_text())

    def judge(self, *arguments, code):
        ran = program.run(*arguments, *NARROW, "--out", self.out)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        return ran, self.report()["cases"]


class Memory(ProcessTest):
    LEAK = (*backend("leaks"), "--timeout", "60s")

    def test_of_a_leak_is_bounded(self):
        ran, cases = self.judge(*self.LEAK, "--memory", "300MiB", code=1)
        for case in cases:
            struck = STRUCK in case["case"]
            self.assertEqual(case["status"], "crash" if struck else "pass", case)
            if not struck:
                continue
            self.assertEqual(case["reasons"], ["out_of_memory"])
            held, most = map(int, re.match(r"its processes held (\d+) MiB, more than the (\d+) MiB "
                                           r"of --memory", case["detail"]["message"]).groups())
            self.assertEqual(most, 300)
            self.assertLess(300, held)
            self.assertLess(held, 900, "it was let run for long after it was over")
        line = [line for line in ran.stdout.splitlines() if line.startswith("repro: ")][0]
        self.assertIn("--timeout 60s --memory 300MiB", line)

    def test_is_not_bounded_unless_asked_for(self):
        ran = program.run("repro", CASE, *self.LEAK)  # it leaks 1 GiB and goes on
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_of_a_worker_that_needs_more_to_start_is_a_usage_error(self):
        with self.subTest("of the worker"):
            ran = program.run(*backend("mm"), *NARROW, "--out", self.out, "--memory", "1MB")
            self.assertEqual(ran.returncode, 2)
            self.assertRegex(ran.stderr, r"did not start: its processes held \d+ MiB, more than")

    def test_limit_is_a_size(self):
        for text in ["12", "4GX", "-1GiB", "GiB", "1e30GiB"]:
            self.assert_refused([*backend("mm"), "--memory", text], f"--memory: '{text}'", "4GiB")
        self.assert_refused([*backend("mm"), "--memory", "1GiB", "--isolation", "none"],
                            "--memory", "leave out --isolation none")


class Processes(ProcessTest):
    def own(self, name):
        """A plug-in by a name that the processes of no other test have: the name, the flags."""
        path = self.out.parent / f"{name}-{os.getpid()}.so"
        shutil.copy(PLUGINS / f"{name}.so", path)
        return path.name, ("--backend", f"plugin:{path}")

    def test_left_behind_by_a_kernel_end_with_it(self):
        word, flags = self.own("leaves_a_child")
        _, cases = self.judge(*flags, "--timeout", "60s", code=1)
        for case in cases:
            struck = STRUCK in case["case"]
            self.assertEqual(case["status"], "crash" if struck else "pass", case)
            if struck:
                self.assertIn("signal 6", case["detail"]["message"])
        self.assertTrue(wait_until(lambda: not running(word)), running(word))

    def test_do_not_outlive_a_run_that_is_killed(self):
        word, flags = self.own("hangs_with_a_child")
        run = subprocess.Popen([program.PROGRAM, *flags, *NARROW,
                                "--timeout", "500s", "--out", self.out],
                               env=program.environment(), stdout=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        workers = lambda: {parent_of(pid) for pid in running(word)} & running(word) - {run.pid}
        self.assertTrue(wait_until(workers), "no worker gets a child")
        run.kill()
        self.assertTrue(wait_until(lambda: not running(word)), running(word))

    def interrupt(self, *arguments):
        """Seconds from the signal, sent while a trial hangs, to the end; and the run."""
        self.word, flags = self.own("loops")
        run = subprocess.Popen([program.PROGRAM, *arguments, *flags, "--timeout", "500s"],
                               env=program.environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.assertTrue(wait_until(lambda: self.burns(run.pid)), "it does not get to hang")
        begin = time.monotonic()
        run.send_signal(signal.SIGTERM)
        run.out, run.err = run.communicate(timeout=60)
        return time.monotonic() - begin, run

    def burns(self, parent):
        """Whether a worker of that process has used a second of CPU: longer than its start takes."""
        return any(parent_of(pid) == parent and int(stat(pid)[11]) > os.sysconf("SC_CLK_TCK")
                   for pid in running(self.word))

    def test_that_hang_do_not_hold_up_the_end_of_a_run(self):
        seconds, run = self.interrupt(*NARROW, "--out", self.out)
        self.assertLess(seconds, 5)
        self.assertEqual((run.returncode, run.err), (3, ""), run.out)
        self.assertIn("incomplete: interrupted after ", run.out)
        report = self.report()
        self.assertFalse(report["run"]["complete"])
        self.assertNotIn("timeout", {c["status"] for c in report["cases"]})
        self.assertTrue(wait_until(lambda: not running(self.word)), running(self.word))

    def test_that_hang_do_not_hold_up_the_end_of_a_repetition(self):
        seconds, run = self.interrupt("repro", CASE)
        self.assertLess(seconds, 5)
        self.assertEqual((run.returncode, run.out), (3, ""))
        self.assertEqual(run.err, "bi-conform: interrupted before any verdict\n")
        self.assertTrue(wait_until(lambda: not running(self.word)), running(self.word))


class ReproLine(ProcessTest):
    def test_repeats_what_was_typed(self):
        ran, _ = self.judge(*backend("declines"), "--isolation", "none", "--timeout", "2m", code=1)
        line = [line for line in ran.stdout.splitlines() if line.startswith("repro: ")][0]
        words = shlex.split(line.removeprefix("repro: "))
        self.assertEqual(words[words.index("--isolation"):],
                         ["--isolation", "none", "--timeout", "2m"])


if __name__ == "__main__":
    unittest.main()
