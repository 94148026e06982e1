#!/usr/bin/env python3
"""What became worse since a baseline: diff and gate as users type them, on plug-ins in C."""
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import disturb
import program

ONE_OP = ("--dims", "k=64,n=8", "--batch", "1,5,33", "--no-perf", "--no-shrink", "--jobs", "2")
SOUND = f"plugin:{disturb.PLUGINS / 'mm.so'}"
UNSOUND = f"plugin:{disturb.PLUGINS / 'leaves_one_out.so'}"
PRODUCTS = f"plugin:{disturb.PLUGINS / 'products.so'}"


class Gate(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        cls.judge("mm", SOUND, "--op", "mm", "--dtype", "fp32", *ONE_OP)
        cls.judge("failing", UNSOUND, "--op", "mm", "--dtype", "fp32", *ONE_OP)
        cls.judge("products", PRODUCTS, "--op", "mm", "--op", "bmm", "--dtype", "fp32",
                  "--relation", "alone", "--no-perf", "--jobs", "2")

    @classmethod
    def judge(cls, name, backend, *arguments):
        ran = program.run("--backend", backend, *arguments, "--out", cls.shared / name)
        assert ran.returncode in (0, 1, 3), ran.stdout + ran.stderr

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.page = self.folder / "page.md"

    def report(self, name):
        return program.parse((self.shared / name / "report.json").read_text())

    def gate(self, code, backend, baseline, *arguments):
        """What a gate printed that ended with `code`."""
        ran = program.run("gate", "--backend", backend, "--baseline", self.shared / baseline,
                          "--no-perf", "--no-shrink", "--jobs", "2", "--out", self.folder / "now",
                          "--markdown", self.page, *arguments)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        return ran.stdout

    def diff(self, code, before, now, *arguments):
        ran = program.run("diff", self.shared / before, self.shared / now, *arguments)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        return ran.stdout

    def now(self):
        return program.parse((self.folder / "now/report.json").read_text())

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def waivers(self, pattern, expires="2999-12-31"):
        return self.write("waivers.json", [{"pattern": pattern, "reason": "known", "owner": "ann",
                                            "expires": expires}])


class Runs(Gate):
    def test_take_seed_filters_and_plan_from_the_baseline(self):
        text = self.gate(0, SOUND, "mm")
        self.assertTrue(text.endswith("\nno change for the worse\n"), text)
        before, now = self.report("mm"), self.now()
        for key in ("seed", "strength", "plan", "target", "filters"):
            self.assertEqual(now["run"][key], before["run"][key], key)
        self.assertIn(f"{len(before['cases'])} cases compared one by one", text)

    def test_are_red_for_new_failures_and_name_op_and_repro_line(self):
        text = self.gate(1, UNSOUND, "mm")
        page = self.page.read_text()
        for shown in (text, page):
            self.assertRegex(shown, r"mm fp32 alone: \d+ cases, pass before, fail now")
            self.assertIn("repro: ", shown)
        failing = {c["case"] for c in self.now()["cases"] if c["status"] == "fail"}
        shown = re.findall(r"(?m)^repro: bi-conform repro '(.*)' --backend plugin:\S+$", page)
        self.assertTrue(set(shown) & failing, page)
        self.assertTrue(page.startswith("## bi-conform: red: new failures: "), page)

    def test_are_not_red_for_what_failed_before(self):
        self.assertIn("cases fail as before", self.gate(0, UNSOUND, "failing"))

    def test_list_what_is_fixed(self):
        self.assertRegex(self.gate(0, SOUND, "failing"), r"\nfixed: \d+ cases\n")

    def test_are_red_for_an_op_that_left_the_manifest(self):
        text = self.gate(1, SOUND, "products")
        self.assertRegex(text, r"RED lost coverage: \d+ cases\n  bmm fp32 alone: ")
        self.assertIn("pass before, unsupported now", self.page.read_text())
        self.assertNotIn("new failures", text)

    def test_may_be_narrowed_to_a_part_of_the_baseline(self):
        text = self.gate(3, SOUND, "products", "--op", "mm")  # one relation proves no level
        self.assertNotIn("RED", text)
        self.assertNotIn("bmm", self.page.read_text())

    def test_of_another_seed_compare_classes(self):
        text = self.gate(0, SOUND, "mm", "--seed", "77")
        self.assertIn("the plans differ", text)
        self.assertIn("0 cases compared one by one", text)
        self.assertIn("RED new failures", self.gate(1, UNSOUND, "mm", "--seed", "77"))

    def test_that_are_cut_lose_coverage(self):
        self.assertIn("RED lost coverage", self.gate(1, SOUND, "mm", "--budget", "1ms"))


class Waivers(Gate):
    def test_cover_new_failures_and_are_listed(self):
        text = self.gate(0, UNSOUND, "mm", "--waivers", self.waivers("^mm\\."))
        self.assertNotIn("RED", text)
        self.assertRegex(text, r"waivers in use: 1 waiver\n  \^mm\\\.: \d+ waived, known; ann")
        self.assertIn("### waivers in use", self.page.read_text())

    def test_that_have_expired_count_as_absent(self):
        text = self.gate(1, UNSOUND, "mm", "--waivers", self.waivers("^mm\\.", "2026-01-31"))
        self.assertIn("RED new failures", text)
        self.assertIn("waivers that have expired", text)

    def test_of_one_case_that_passes_are_red(self):
        case = next(c["case"] for c in self.report("mm")["cases"] if c["status"] == "pass")
        waivers = self.write("waivers.json", [{"case": case, "reason": "known", "owner": "ann",
                                               "expires": "2999-12-31"}])
        text = self.gate(1, SOUND, "mm", "--waivers", waivers)
        self.assertIn("RED waivers to take out: none of their cases fails: 1 waiver\n", text)
        self.assertNotIn("RED new failures", text)


class Required(Gate):
    def rows(self, op, *dtypes):
        return self.write("required.json", [{"op": op, "dtypes": dtypes}])

    def test_rows_that_hold_are_not_red(self):
        self.gate(0, SOUND, "mm", "--required", self.rows("mm", "fp32"))

    def test_rows_that_were_not_run_are_red(self):
        text = self.gate(1, SOUND, "mm", "--required", self.rows("mm", "fp32", "bf16"))
        self.assertIn("RED required and not held: 1 row\n  mm bf16: not in the run\n", text)

    def test_rows_that_failed_before_too_are_red(self):
        text = self.gate(1, UNSOUND, "failing", "--required", self.rows("mm", "fp32"))
        self.assertRegex(text, r"mm fp32: (BI-\d|none), not BI-3; ")

    def test_rows_may_rest_on_waivers(self):
        self.gate(0, UNSOUND, "mm", "--required", self.rows("mm", "fp32"),
                  "--waivers", self.waivers("^mm\\."))


class Diff(Gate):
    def test_of_a_report_and_itself_is_nothing(self):
        text = self.diff(0, "mm", "mm", "--bits")
        self.assertNotIn("RED", text)
        self.assertIn("the subjects are the same", text)
        self.assertRegex(text, r"on cpu: 0 of \d+ cases have other bits")

    def test_is_red_in_one_direction(self):
        self.diff(1, "mm", "failing", "--markdown", self.page)
        self.assertIn("Red: new failures", self.page.read_text())
        self.diff(0, "failing", "mm")

    def test_lists_the_cases_with_other_bits(self):
        other = self.shared / "other"
        shutil.copytree(self.shared / "mm", other, dirs_exist_ok=True)
        report = self.report("mm")
        changed = next(c for c in report["cases"] if c["digest"])
        changed["digest"] = "00" * 32
        report["subject"]["libraries"][0]["sha256"] = "0" * 64
        (other / "report.json").write_text(json.dumps(report))
        text = self.diff(0, "mm", "other", "--bits")
        self.assertRegex(text, r"on cpu: 1 of \d+ cases have other bits")
        self.assertIn("-> " + "0" * 64, text)
        self.assertIn(f"mm fp32: 1 of ", text)
        self.assertIn("\n    " + changed["case"] + "\n", text)

    def test_takes_files_and_folders(self):
        self.diff(0, "mm/report.json", "mm")


class Mistakes(Gate):
    def refuse(self, arguments, *parts):
        self.assert_refused(["gate", "--backend", SOUND, *arguments], *parts)

    def test_of_the_baseline(self):
        self.refuse([], "--baseline is missing")
        self.refuse(["--baseline", "none.json"], "--baseline: 'none.json' cannot be read")
        self.refuse(["--baseline", self.write("b.json", "{")], "b.json")
        self.refuse(["--baseline", ""], "--baseline: its value is empty")
        report = self.report("mm")
        del report["run"]["filters"]
        path = self.write("old.json", report)
        self.refuse(["--baseline", path], "does not say by which filters")

    def test_of_filters_and_shards(self):
        baseline = ["--baseline", self.shared / "mm"]
        self.refuse([*baseline, "--op", "mmm"], "--op", "did you mean 'mm'")
        self.refuse([*baseline, "--batch", "1,8"], "--batch: a gate runs the baseline's sizes")
        self.refuse([*baseline, "--shard", "1/2"], "--shard: a gate runs the whole plan")
        self.refuse([*baseline, "--base", "x"], "unknown flag '--base'")

    def test_of_the_required_list(self):
        def refuse(content, *parts):
            path = self.write("required.json", content)
            self.refuse(["--baseline", self.shared / "mm", "--required", path], *parts)

        refuse("[]", "requires nothing")
        refuse("{", "required.json")
        refuse([{"op": "softmx", "dtypes": ["fp32"]}], "did you mean 'softmax'")
        refuse([{"op": "mm", "dtypes": ["fp23"]}], "unknown dtype 'fp23'; did you mean 'fp32'")
        refuse([{"op": "mm"}], "dtypes")
        refuse([{"op": "mm", "dtypes": ["fp32"], "level": 3}], "level")
        self.refuse(["--baseline", self.shared / "mm", "--required", "none.json"],
                    "--required: 'none.json' cannot be read")

    def test_of_waivers_and_places(self):
        baseline = ["--baseline", self.shared / "mm"]
        self.refuse([*baseline, "--waivers", "none.json"], "--waivers: 'none.json'")
        self.refuse([*baseline, "--markdown", self.folder / "no/page.md"], "--markdown")

    def test_of_a_diff(self):
        self.assert_refused(["diff", self.shared / "mm"], "new")
        self.assert_refused(["diff", "none", self.shared / "mm"], "old: 'none'")
        self.assert_refused(["diff", self.shared / "mm", "none"], "new: 'none'")
        self.assert_refused(["diff", self.shared / "mm", self.shared / "mm", "x"],
                            "unknown argument 'x'")
        self.assert_refused(["diff", "--bit", self.shared / "mm", self.shared / "mm"],
                            "did you mean '--bits'")
        shard = self.report("mm")
        shard["run"]["shard"] = {"index": 1, "count": 2, "source": "--shard",
                                 "rows": list(range(len(shard["ops"])))}
        shard["verdict"]["certifiable"] = False
        self.assert_refused(["diff", self.shared / "mm", self.write("shard.json", shard)],
                            "one shard of a run; join them first")


if __name__ == "__main__":
    unittest.main()
