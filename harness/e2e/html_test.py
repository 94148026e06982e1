#!/usr/bin/env python3
"""The page that `--format html` and `render` make, as headless Chromium shows it."""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import browser
import program

SKIPPED = 77  # to CTest
EXAMPLES = program.PROJECT / "adapters/python/examples"
PYTHON = program.python_with_numpy()
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
# What must have a name, to a screen reader.
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "img", "image", "table",
         "navigation", "heading", "search"}


def tensor(order, **more):
    return {"order": order, "section": "prefill", "name": f"t{order}", "invocation": 0,
            "dtype": "fp32", "shape": [1], "op": -1, "same_shape": True} | more


DISTANCE = dict.fromkeys(("max_abs", "mean_abs", "rmse", "relative_l2", "output_abs_max"), "0x1p-20")
TRACE = {"trace": 1, "suite_version": "0.1.0", "backend": "libtorch", "device": "cpu",
         "model": "pi0", "preset": "tiny", "dtype": "fp32", "requests": [0, 1], "position": 1,
         "only": "*", "recorded": 2, "differing": 1, "ops": [],
         "tensors": [tensor(0, equal=True), tensor(1, equal=False, distance=DISTANCE)],
         "first_divergence": {"tensor": 1}}


def judged(folder, module, *arguments):
    ran = program.run("--backend", f"python:{EXAMPLES / module}", "--python", PYTHON, "--op", "mm",
                      "--dtype", "fp32", "--dtype", "fp64", "--no-perf", "--out", folder, *arguments)
    assert ran.returncode in (0, 1), ran.stderr
    return program.parse((folder / "report.json").read_text())


def setUpModule():
    """A run that fails and one that passes, made once."""
    Page.folder = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, Page.folder)
    Page.failed = judged(Page.folder / "fail", "numpy_varying.py", "--format", "html")
    Page.passed = judged(Page.folder / "pass", "numpy_ops.py", "--format", "html")


class Page(unittest.TestCase):
    """Each test has a window of its own."""

    def show(self, report, width=1280):
        window = browser.Browser(browser.find(), width=width)
        self.addCleanup(window.close)
        window.open((self.folder / report / "report.html").as_uri())
        window.wait_for("document.querySelector('#case-rows').children.length > 0")
        return window

    def count(self, window, selector):
        return window.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def shown(self, window):
        """How many cases the page says that it shows."""
        text = window.evaluate("document.getElementById('case-count').textContent")
        return int(re.match(r"([\d,]+) of ", text)[1].replace(",", ""))

    def search(self, window, text):
        """Types it; the list follows a moment later."""
        window.evaluate("document.getElementById('f-text').focus();"
                        "document.getElementById('case-count').textContent = ''")
        window.type(text)
        window.wait_for("document.getElementById('case-count').textContent !== ''")
        return self.shown(window)


class FailingRun(Page):
    def setUp(self):
        self.window = self.show("fail")
        self.red = [c for c in self.failed["cases"] if c["status"] == "fail"]
        self.assertGreater(len(self.red), 0)

    def test_says_so_first_and_breaks_nothing(self):
        self.assertEqual(self.window.evaluate("document.querySelector('h1').textContent"),
                         "✕ Does not conform")
        self.assertIn("a sample's bits change with the batch",
                      self.window.evaluate("document.querySelector('.sentence').textContent"))
        self.assertEqual(self.window.problems, [])

    def test_has_the_matrix_and_the_plots(self):
        rows = {(r["op"], r["dtype"]): r["level"] for r in self.failed["ops"]}
        labels = self.window.evaluate(
            "[...document.querySelectorAll('.matrix a')].map((a) => a.getAttribute('aria-label'))")
        self.assertEqual(len(labels), len(rows))
        for (op, dtype), level in rows.items():
            self.assertTrue(any(l.startswith(f"{op} {dtype}: {level}") for l in labels), labels)
        failing = sum(r["cases"]["fail"] > 0 for r in self.failed["ops"])
        self.assertEqual(self.count(self.window, "svg.map"), failing)
        self.assertGreater(self.count(self.window, "svg.map rect:not(.k0)"), 0)
        self.assertEqual(self.count(self.window, "svg.tally"), 1)
        self.assertGreater(self.count(self.window, "svg.errors rect"), 0)
        self.assertGreater(self.count(self.window, ".ops svg.bar"), 0)
        self.assertTrue(self.window.evaluate("document.querySelector('svg.map').getBoundingClientRect().width > 100"))

    def test_lists_the_red_cases_first_each_with_what_repeats_it(self):
        first = self.window.evaluate("document.querySelector('#case-rows tr').innerText")
        self.assertTrue(first.startswith("fail"), first)
        repro = self.window.evaluate("document.querySelector('#case-rows [data-copy]').dataset.copy")
        self.assertIn(f"repro '{self.red[0]['case']}' --backend", repro)
        self.assertEqual(self.shown(self.window), len(self.failed["cases"]))

    def test_finds_what_is_typed(self):
        batch = [c for c in self.failed["cases"] if re.search(r":B33[@#]", c["case"])]
        self.assertEqual(self.search(self.window, "B=33"), len(batch))
        both = [c for c in batch if ".alone/fp32" in c["case"]]
        self.assertEqual(self.search(self.window, " alone/fp32"), len(both))
        self.assertEqual(self.search(self.window, " nothing-like-it"), 0)
        self.assertEqual(self.count(self.window, "#case-rows tr"), 0)

    def test_shows_the_cases_of_a_row_that_is_chosen_by_keyboard(self):
        self.window.evaluate("document.querySelector('.ops a.show[data-dtype=fp64]').focus()")
        self.window.press("Enter", 13)
        expected = [c for c in self.failed["cases"] if c["case"].split("/")[1].startswith("fp64:")]
        self.window.wait_for(f"document.getElementById('f-dtype').value === 'fp64'")
        self.window.wait_for(f"document.getElementById('case-count').textContent.startsWith('{len(expected):,} of')")
        self.window.evaluate("document.getElementById('f-status').value = 'red';"
                             "document.getElementById('filter').requestSubmit()")
        self.assertEqual(self.shown(self.window), sum(c["status"] == "fail" for c in expected))

    def test_turns_pages_by_keyboard(self):
        self.assertGreater(len(self.failed["cases"]), 50)
        before = self.window.evaluate("document.querySelector('#case-rows code').textContent")
        self.window.evaluate("document.getElementById('next').focus()")
        self.window.press("Enter", 13)
        self.assertNotEqual(self.window.evaluate("document.querySelector('#case-rows code').textContent"), before)
        self.assertTrue(self.window.evaluate("document.getElementById('page').textContent").startswith("Page 2 of"))

    def test_filters_the_ops(self):
        self.window.evaluate("document.getElementById('op-filter').focus()")
        self.window.type("mm fp64")
        self.assertEqual(self.count(self.window, "#op-table tbody tr:not([hidden])"), 1)

    def test_names_everything_to_a_screen_reader(self):
        self.window.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        nodes = self.window.send("Accessibility.getFullAXTree")["nodes"]
        found = {}
        for node in nodes:
            role = node.get("role", {}).get("value", "")
            if node.get("ignored") or role not in NAMED:
                continue
            name = node.get("name", {}).get("value", "").strip()
            found.setdefault(role, []).append(name)
        for role, names in found.items():
            self.assertNotIn("", names, f"a {role} has no name; others: {names[:5]}")
        for role in ("button", "link", "searchbox", "combobox", "table", "navigation"):
            self.assertIn(role, found)
        unnamed = "[role=group]:not([aria-label]):not([aria-labelledby])"
        self.assertEqual(self.count(self.window, unnamed), 0)
        images = found.get("img", []) + found.get("image", [])
        self.assertIn("Bits of mm fp32 by batch size and position", images)
        self.assertIn("Rows by their worst error as a share of the bound", images)

    def test_heads_its_tables_and_has_no_id_twice(self):
        self.assertEqual(self.count(self.window, "th:not([scope])"), 0)
        self.assertTrue(self.window.evaluate(
            "new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size"
            " === document.querySelectorAll('[id]').length"))

    def test_fits_a_narrow_window(self):
        narrow = self.show("fail", width=500)
        narrow.send("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1,
                    mobile=False)
        self.assertEqual(narrow.evaluate("document.documentElement.scrollWidth"), 390)

    def test_has_a_dark_side_that_can_be_read(self):
        for scheme in ("light", "dark"):
            self.window.send("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": scheme}])
            low = self.window.evaluate(CONTRAST)
            self.assertEqual(low, [], scheme)

    def test_prints_what_is_folded_away_and_no_controls(self):
        self.window.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.window.send("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.count(self.window, "details:not([open])"), 0)
        self.assertEqual(self.window.evaluate("getComputedStyle(document.querySelector('nav')).display"),
                         "none")
        self.assertTrue(self.window.evaluate("document.querySelector('svg.map').getBoundingClientRect().width > 100"))


# The texts whose contrast with what is behind them is below WCAG's 4.5 to 1.
CONTRAST = """(() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const e of document.querySelectorAll('body *:not(script):not(style)')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('svg') || !e.getClientRects().length || e.disabled) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${e.className || e.tagName}: ${e.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low.slice(0, 10);
})()"""


class PassingRun(Page):
    def test_says_so_and_has_no_failures(self):
        window = self.show("pass")
        self.assertEqual(window.evaluate("document.querySelector('h1').textContent"), "✓ Conforms")
        self.assertEqual(self.count(window, "#failures, svg.map, .matrix .red"), 0)
        self.assertEqual(self.count(window, ".matrix .ok"), len(self.passed["ops"]))
        self.assertEqual(window.problems, [])


class Rendering(Page, program.ProgramTest):
    def test_makes_the_same_page_from_the_report_alone(self):
        page = self.folder / "fail" / "report.html"
        ran = program.run("render", self.folder / "fail", "--out", self.folder / "again")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual((self.folder / "again/report.html").read_bytes(), page.read_bytes())

    def test_writes_every_format_and_prints_the_table(self):
        out = self.folder / "formats"
        ran = program.run("render", self.folder / "fail/report.json", "--format", "markdown",
                          "--format", "junit", "--format", "console", "--out", out)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["junit.xml", "report.md"])
        self.assertIn("\nop           dtype level", ran.stdout)
        self.assertIn(self.failed["verdict"]["text"], ran.stdout)

    def test_shows_hostile_names_as_text(self):
        report = json.loads((self.folder / "fail/report.json").read_text())
        report["subject"]["backend"] = report["environment"]["cpu"] = HOSTILE
        report["ops"][0]["why"] = report["verdict"]["text"] = HOSTILE
        for case in report["cases"]:
            if case["status"] == "fail":
                case["detail"]["message"] = HOSTILE
        (self.folder / "hostile").mkdir()
        (self.folder / "hostile/report.json").write_text(json.dumps(report))
        ran = program.run("render", self.folder / "hostile")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        window = self.show("hostile")
        self.assertIn("bi-conform", window.evaluate("document.title"))
        self.assertNotEqual(window.evaluate("document.title"), "owned")
        self.assertEqual(self.count(window, "img"), 0)
        self.assertEqual(self.count(window, "script"), 2)
        self.assertIn(HOSTILE, window.evaluate("document.querySelector('#case-rows').textContent"))
        self.assertEqual(window.problems, [])

    def test_draws_the_trace_of_a_model(self):
        (self.folder / "trace.json").write_text(json.dumps(TRACE))
        ran = program.run("render", self.folder / "fail", "--trace", self.folder / "trace.json",
                          "--out", self.folder / "traced")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        window = self.show("traced")
        self.assertEqual(self.count(window, "svg.trace path.equal, svg.trace path.differs"), 2)
        self.assertIn("1 of 2 tensors differ", window.evaluate("document.getElementById('trace').innerText"))
        self.assertEqual(window.problems, [])

    def test_refuses_in_one_line(self):
        self.assert_refused(["render", self.folder / "none.json"], "none.json")
        self.assert_refused(["render", self.folder / "fail", "--format", "htm"], "did you mean 'html'")
        self.assert_refused(["render", self.folder / "fail", "--format", "junit", "--trace", "t.json"],
                            "--trace 't.json'", "only --format html")
        self.assert_refused(["render", self.folder / "fail", "--trace", self.folder / "fail/report.json"],
                            "--trace", "not what `bi-conform trace --json` writes")
        (self.folder / "outside.json").write_text(json.dumps(TRACE | {"first_divergence": {"tensor": 2}}))
        self.assert_refused(["render", self.folder / "fail", "--trace", self.folder / "outside.json"],
                            "outside.json", "first_divergence names tensor 2, of 2 tensors")


if __name__ == "__main__":
    if not browser.find():
        if "ID=debian" in pathlib.Path("/etc/os-release").read_text().splitlines():
            sys.exit("no Chromium here; ci/test installs Debian's chromium")
        print("skipped: no Chromium (Ubuntu has it as a snap alone, which no container runs)")
        sys.exit(SKIPPED)
    unittest.main()
