#!/usr/bin/env python3
"""What a user gets from judging a backend: report, repro line, exit code. Needs LibTorch."""
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

HONEST = ("--backend", "libtorch-invariant", "--no-perf")
SMALL = ("--dtype", "fp32", "--batch", "1,8,48")


class Run:
    """One run that ended, and its report."""

    def __init__(self, test, *arguments):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        test.addClassCleanup(shutil.rmtree, self.folder)
        # Without --out, so that two runs have the same command line.
        self.ended = program.run(*arguments, cwd=self.folder)
        self.path = self.folder / "bi-conform-report" / "report.json"
        self.report = program.parse(self.path.read_text())
        self.cases = self.report["cases"]
        test().assertEqual(self.report["verdict"]["exit_code"], self.ended.returncode)

    def statuses(self, relation=""):
        return {c["status"] for c in self.cases if f".{relation}" in c["case"]}


def processes_of(session):
    """Live processes of a session, by what they run."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        if fields[3] == str(session) and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


class SoundBackend(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run(cls, *HONEST, "--op", "mm", "--dtype", "fp32")
        cls.report = cls.run_.report

    def test_conforms(self):
        self.assertEqual(self.run_.ended.returncode, 0, self.run_.ended.stdout)
        self.assertEqual(self.run_.ended.stderr, "")
        verdict = self.report["verdict"]
        self.assertEqual(verdict["level"], "BI-3")
        self.assertIs(verdict["conforms"], True)
        self.assertEqual(verdict["ops_covered"], 1)
        self.assertEqual(verdict["ops_total"], len(program.registered_ops()) + 1, "ops and pi0")
        self.assertIn(verdict["text"], self.run_.ended.stdout)
        self.assertIn("bi-conform-report/report.json", self.run_.ended.stdout)

    def test_certifies_nothing_when_quick_and_filtered(self):
        verdict = self.report["verdict"]
        self.assertEqual(verdict["strength"], "quick")
        self.assertIs(verdict["certifiable"], False)
        self.assertLessEqual({"quick", "filtered"}, set(verdict["why_not_certifiable"]))

    def test_has_a_report_that_an_independent_validator_accepts(self):
        check = [program.PROJECT / "ci/check-jsonschema", "--schemafile", program.SCHEMA]
        self.assertEqual(subprocess.call([*check, self.run_.path]), 0)
        broken = self.run_.folder / "broken.json"
        broken.write_text(self.run_.path.read_text().replace('"pass"', '"passed"'))
        refused = subprocess.run([*check, broken], capture_output=True, check=False)
        self.assertEqual(refused.returncode, 1)

    def test_counts_every_case_once(self):
        totals = dict(self.report["totals"])
        planned = totals.pop("planned")
        self.assertLessEqual(set(program.words_of_schema("status")), set(totals))
        self.assertEqual((sum(totals.values()), len(self.run_.cases)), (planned, planned))
        self.assertGreater(totals["pass"], 100)
        self.assertEqual(len({c["case"] for c in self.run_.cases}), planned)
        for case in self.run_.cases:
            self.assertRegex(case["digest"], r"\A[0-9a-f]{64}\Z")

    def test_says_what_was_run_and_where(self):
        run, row = self.report["run"], self.report["ops"][0]
        self.assertEqual(run["seed"], "000000000000b1c0")
        self.assertGreater(run["duration_ns"], 0)
        self.assertIs(run["complete"], True)
        self.assertEqual(self.report["subject"]["backend"], "libtorch-invariant")
        self.assertEqual(self.report["environment"]["cores"], os.cpu_count())
        self.assertEqual((row["op"], row["dtype"], row["level"]), ("mm", "fp32", "BI-3"))
        self.assertTrue(0 < row["worst_error_ppm"] <= 1_000_000, row["worst_error_ppm"])


class Report(program.ProgramTest):
    """Parts of a report that other flags bring about."""

    def test_differs_in_times_only_when_the_seed_is_the_same(self):
        flags = [*HONEST, *SMALL, "--op", "mm", "--relation", "alone", "--seed"]
        reports = []
        for seed in ["7", "7", "8"]:
            reports.append(Run(Report, *flags, seed).report)
            for time_of_day in ["started", "duration_ns"]:
                del reports[-1]["run"][time_of_day]
        self.assertEqual(reports[0], reports[1])
        digests = [{c["digest"] for c in r["cases"]} for r in reports]
        self.assertTrue(digests[0].isdisjoint(digests[2]))

    def test_has_the_throughput_and_its_ratio_to_stock(self):
        run = Run(Report, *HONEST[:2], *SMALL, "--op", "gelu", "--relation", "alone")
        speed = run.report["ops"][0]["throughput"]
        ratio = 1e6 * speed["stock_ns"] / speed["backend_ns"]
        self.assertAlmostEqual(speed["ratio_ppm"], ratio, delta=1 + ratio / 1e3)
        self.assertIs(speed["digest_matches"], True)
        self.assertRegex(run.ended.stdout, r"gelu .*B/s \d+\.\d\dx")

    def test_holds_only_the_sizes_asked_for(self):
        run = Run(Report, *HONEST, *SMALL, "--op", "bmm", "--dims", "m=7,k=65,n=3",
                  "--relation", "alone", "--relation", "threads")
        for case in run.cases:
            self.assertRegex(case["case"], r"\Abmm(-\w+)?\.(alone|threads)/fp32:k65,m7,n3:")
            self.assertLessEqual({int(b) for b in re.findall(r"B(\d+)", case["case"])}, {1, 8, 48})
        self.assertTrue({"B8", "B48"} <= set(re.findall(r"B\d+", str(run.cases))))

    def test_holds_only_the_cases_that_match_the_pattern(self):
        run = Run(Report, *HONEST, *SMALL, "-k", r"^sum-keepdim\.(repeat|twins)/")
        heads = {c["case"].partition("/")[0] for c in run.cases}
        self.assertEqual(heads, {"sum-keepdim.repeat", "sum-keepdim.twins"})

    def test_claims_no_fresh_process_where_there_was_none(self):
        run = Run(Report, *HONEST, *SMALL, "--isolation", "none", "--op", "sum",
                  "--relation", "repeat", "--relation", "fresh")
        self.assertEqual(run.ended.returncode, 3, run.ended.stdout)
        self.assertEqual((run.statuses("repeat"), run.statuses("fresh")), ({"pass"}, {"vacuous"}))
        self.assertEqual(run.report["verdict"]["level"], "none")

    def test_is_incomplete_when_the_budget_is_spent(self):
        run = Run(Report, *HONEST, "--budget", "1s")
        self.assertEqual(run.ended.returncode, 3, run.ended.stdout)
        self.assertIs(run.report["run"]["complete"], False)
        reason = run.report["run"]["incomplete_reason"]
        self.assertRegex(reason, r"budget after \d+ of \d+ problems")
        self.assertIn("incomplete", run.report["verdict"]["why_not_certifiable"])

    def test_is_not_begun_where_it_cannot_be_written(self):
        with tempfile.NamedTemporaryFile() as file:
            for out in [file.name, f"{file.name}/below", "/proc", "/proc/none"]:
                with self.subTest(out):
                    self.assert_refused([*HONEST, "--out", out], out)


class BrokenBackend(program.ProgramTest):
    FAILURE = re.compile(
        r"^FAIL mm\.alone fp32 B=\d+.* vs B=1 \[bits\]: (\d+) of (\d+) elements differ, "
        r"first \[\d+\] (0x[0-9a-f]{8}) vs (0x[0-9a-f]{8}) \(\d+ ulp\); starts at B=(\d+)\n"
        r"repro: (.*)$", re.MULTILINE)

    @classmethod
    def setUpClass(cls):
        cls.run_ = Run(cls, "--backend", "fault:split-by-batch", "--no-perf", *SMALL,
                       "--op", "mm", "--relation", "alone")
        cls.failure = cls.FAILURE.search(cls.run_.ended.stdout)

    def repeat(self, backend):
        line = shlex.split(self.failure[6])
        self.assertEqual(line[1:2] + line[3:], ["repro", "--backend", "fault:split-by-batch"])
        return program.run("repro", line[2], "--backend", backend)

    def test_fails_and_is_told_where_it_starts(self):
        self.assertEqual(self.run_.ended.returncode, 1, self.run_.ended.stdout)
        self.assertIsNotNone(self.failure, self.run_.ended.stdout)
        differing, total, a, b, start = self.failure.groups()[:5]
        self.assertTrue(0 < int(differing) <= int(total))
        self.assertNotEqual(a, b)
        # Of 8 samples on it sums in another order, says the catalog of faults.
        self.assertEqual(start, "8")

    def test_fails_again_by_its_repro_line_with_the_same_bits(self):
        repeated = self.repeat("fault:split-by-batch")
        self.assertEqual(repeated.returncode, 1, repeated.stderr)
        for part in [self.failure[3], self.failure[4], "status: fail", self.failure[6]]:
            self.assertIn(part, repeated.stdout)

    def test_is_at_fault_alone(self):
        repeated = self.repeat("libtorch-invariant")
        self.assertEqual(repeated.returncode, 0, repeated.stdout)
        self.assertIn("status: pass", repeated.stdout)

    def test_is_shown_by_its_smallest_case_and_what_is_known_of_it(self):
        failure = self.run_.report["failures"][0]
        found, shrunk = failure["found"], failure["shrunk"]["case"]
        parts = re.fullmatch(r"mm\.alone/fp32:k(\d+),n1:B8#\d+~B1#\d+:fill=\w+:s=\w+", shrunk)
        # Of 16 products and fewer the fault makes one sum.
        self.assertTrue(16 < int(parts[1]) <= 32, shrunk)
        self.assertIn(shrunk, self.failure[6])
        self.assertIn(found, {c["case"] for c in self.run_.cases if c["status"] == "fail"})
        self.assertLessEqual(failure["trials"], 300)
        self.assertEqual(failure["shrunk"]["detail"]["starts_at_batch"], 8)
        self.assertEqual(failure["classes"], [[1], [8, 48]])
        self.assert_facts(f"found as {found}, made smaller in {failure['trials']} trials",
                          "bit classes of B: {1} {8-48}", "fails: alone", "holds: accuracy, repeat")

    def test_has_the_same_smallest_case_in_every_run(self):
        again = Run(BrokenBackend, *self.run_.ended.args[1:])
        self.assertEqual(again.report["failures"], self.run_.report["failures"])

    def test_is_shown_as_found_where_no_smaller_case_is_wanted(self):
        run = Run(BrokenBackend, *self.run_.ended.args[1:], "--no-shrink")
        failure = run.report["failures"][0]
        self.assertEqual(failure["found"], failure["shrunk"]["case"])
        self.assertEqual(failure["found"], self.run_.report["failures"][0]["found"])
        self.assertIn(f"repro '{failure['found']}'", run.ended.stdout)

    def assert_facts(self, *facts):
        lines = self.run_.ended.stdout.partition(self.failure[6])[2].splitlines()[1:]
        for fact in facts:
            self.assertTrue(any(line.startswith(f"  {fact}") for line in lines), (fact, lines))

    def test_that_dies_costs_only_the_cases_that_killed_it(self):
        run = Run(BrokenBackend, "--backend", "fault:crashes", "--no-perf", "--dtype", "fp32",
                  "--batch", "1,32,33", "--op", "mm", "--relation", "alone")
        self.assert_lost(run, "crash", ["signal"])
        self.assertIn("killed by signal", run.ended.stdout)

    def test_that_hangs_costs_only_the_cases_that_waited(self):
        run = Run(BrokenBackend, "--backend", "fault:hangs", "--no-perf", "--dtype", "fp32",
                  "--batch", "1,32,33", "--op", "mm", "--relation", "alone", "--timeout", "2s")
        self.assert_lost(run, "timeout", [])
        self.assertIn("no answer within 2000 ms", run.ended.stdout)

    def assert_lost(self, run, status, reasons):
        self.assertEqual(run.ended.returncode, 1, run.ended.stdout)
        for case in run.cases:
            lost = ":B33" in case["case"]
            expected = (status, reasons) if lost else ("pass", [])
            self.assertEqual((case["status"], case["reasons"]), expected, case)
        self.assertEqual(run.statuses(), {status, "pass"})


class Interrupt(program.ProgramTest):
    def test_keeps_what_was_judged_and_leaves_no_process(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        journal = folder / "journal.jsonl"
        command = [program.PROGRAM, *HONEST, "--standard", "--out", folder]
        running = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL,
                                   env=program.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.kill)
        deadline = time.monotonic() + 30
        while not journal.exists() or journal.read_text().count("\n") < 2:
            self.assertLess(time.monotonic(), deadline, "nothing was judged")
            time.sleep(0.05)
        self.assertGreater(len(processes_of(running.pid)), 1)
        os.killpg(running.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        output, errors = running.communicate(timeout=30)

        self.assertEqual((running.returncode, errors), (3, ""), output)
        self.assertEqual(processes_of(running.pid), [])
        report = program.parse((folder / "report.json").read_text())
        lines = journal.read_text().splitlines()
        judged = [line["case"] for line in map(program.parse, lines) if "case" in line]
        self.assertEqual(judged, [c["case"] for c in report["cases"]])
        reason = report["run"]["incomplete_reason"]
        self.assertRegex(reason, r"interrupted after [1-9]\d* of \d+ problems")
        self.assertIn(reason, output)


class Support(program.ProgramTest):
    def test_shows_which_kernels_are_the_backends_own(self):
        ran = program.run("support", *HONEST[:2])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertRegex(ran.stdout, r"\Alibtorch-invariant on cpu\n")
        self.assertRegex(ran.stdout, r"(?m)^mm +fp32 .*own: aten::mm")
        stock = program.run("support", "--backend", "libtorch")
        self.assertRegex(stock.stdout, r"(?m)^mm +fp32 .*stock \(")


class OpsPage(program.ProgramTest):
    def test_is_the_one_in_docs(self):
        made = program.run("list", "ops-page")
        self.assertEqual(made.returncode, 0, made.stderr)
        page = (program.PROJECT / "docs/ops.md").read_text()
        self.assertEqual(made.stdout, page, "run: bi-conform list ops-page > docs/ops.md")


if __name__ == "__main__":
    unittest.main()
