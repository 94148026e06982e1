#!/usr/bin/env python3
"""The claims of ci/action/: its files against GitHub's and GitLab's public schemas, its scripts against
stand-ins for the program and the forge.
"""
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

CI = pathlib.Path(__file__).resolve().parents[1]
ACTION = CI / "action"
sys.path.insert(0, str(ACTION))

# Writes the report that REPORT names and the page, says what it was given, ends with CODE.
PROGRAM = """#!/bin/bash
printf '%s\\n' "$@" >"$ARGUMENTS"
while [[ $# -gt 0 ]]; do
  [[ $1 != --out ]] || out=$2
  [[ $1 != --markdown ]] || page=$2
  shift
done
[[ ! -f $REPORT ]] || { cp "$REPORT" "$out/report.json"; echo "$PAGE" >"${page:-$out/report.md}"; }
exit "${CODE:-0}"
"""


def case(name, status):
    return {"case": name, "status": status, "reasons": [], "digest": ""}


def report(*failing):
    failures = [{"found": name, "shrunk": case(name, "fail") | {
        "detail": {"message": "100% of it,\nand more"}}} for name in failing]
    return {"cases": [case(name, "fail") for name in failing], "failures": failures}


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("bi-conform", PROGRAM).chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    def run_script(self, *command, **variables):
        return subprocess.run(
            [str(c) for c in command], cwd=self.folder, text=True, capture_output=True, check=False,
            env={"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(self.folder / "output"),
                 "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
                 "RUNNER_TEMP": str(self.folder)} | {k: str(v) for k, v in variables.items()})

    def outputs(self):
        lines = (self.folder / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


class Judge(Scripts):
    def judge(self, shown, code=0, **variables):
        path = self.folder / "shown.json"
        if shown:
            path.write_text(json.dumps(shown))
        ran = self.run_script("bash", ACTION / "judge", BIC_PROGRAM=self.folder / "bi-conform",
                              BIC_BACKEND="libtorch:my kernels.so", BIC_OUT="out", REPORT=path,
                              CODE=code, ARGUMENTS=self.folder / "arguments",
                              PAGE="## bi-conform: BI-3 on 1\\_000 \\*ops\\*", **variables)
        given = self.folder / "arguments"
        return ran, given.read_text().splitlines() if given.exists() else []

    def test_runs_the_suite_and_says_the_verdict(self):
        ran, given = self.judge(report(), BIC_ARGUMENTS="--op mm\n --dtype *")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(given[0], "run")
        self.assertEqual(given[-4:], ["--op", "mm", "--dtype", "*"])
        self.assertEqual(given[given.index("--backend") + 1], "libtorch:my kernels.so")
        self.assertIn("::notice title=bi-conform::BI-3 on 1_000 *ops*\n", ran.stdout)
        self.assertEqual(self.outputs(), {"report": "out/report.json", "page": "out/report.md",
                                          "verdict": "BI-3 on 1_000 *ops*"})
        self.assertTrue((self.folder / "summary").read_text().startswith("## bi-conform: "))

    def test_ends_with_the_programs_exit_code(self):
        for code in (1, 3, 4):
            self.assertEqual(self.judge(report("mm.alone/fp32:k20"), code)[0].returncode, code)

    def test_gates_when_there_is_a_baseline_and_names_only_new_failures(self):
        old, new = "mm.alone/fp32:k20", "mm.alone/fp32:k21"
        baseline = self.write("base/report.json", json.dumps(report(old)))
        ran, given = self.judge(report(old, new), 1, BIC_BASELINE=baseline.parent,
                                BIC_REQUIRED="required.json", BIC_WAIVERS="waivers.json")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertEqual(given[:3], ["gate", "--baseline", str(baseline.parent)])
        for flag in ("required", "waivers"):
            self.assertEqual(given[given.index(f"--{flag}") + 1], f"{flag}.json")
        self.assertIn(f"::error title=fail%3A mm.alone/fp32::{new}%0A100%25 of it,%0Aand more\n",
                      ran.stdout)
        self.assertNotIn(old, ran.stdout)
        self.assertIn("::error title=bi-conform::BI-3 on", ran.stdout)
        self.assertEqual(self.outputs()["page"], "out/gate.md")

    def test_a_required_file_without_a_baseline_is_a_mistake(self):
        ran, given = self.judge(report(), BIC_REQUIRED="required.json")
        self.assertEqual((ran.returncode, given), (2, []))
        self.assertIn("::error", ran.stdout)

    def test_a_shard_is_a_mistake(self):
        for arguments in ("--op mm --shard 1/4", "--shard=1/4"):
            ran, given = self.judge(report(), BIC_ARGUMENTS=arguments)
            self.assertEqual((ran.returncode, given), (2, []))
            self.assertRegex(ran.stdout, r"\A::error title=bi-conform::arguments: --shard[^\n]+\n\Z")

    def test_no_report_is_never_a_pass(self):
        for code, end in ((0, 4), (2, 2)):
            ran, _ = self.judge(None, code)
            self.assertEqual(ran.returncode, end)
            self.assertIn("::error title=bi-conform::no report", ran.stdout)

    def test_takes_no_report_of_an_earlier_step(self):
        self.write("out/report.json", json.dumps(report()))
        self.assertEqual(self.judge(None, 0)[0].returncode, 4)


class Install(Scripts):
    def archive(self, member="b/bin/bi-conform"):
        path = self.folder / "a.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            archive.add(self.folder / "bi-conform", member)
        return path

    def install(self, archive, **variables):
        return self.run_script("bash", ACTION / "install", BIC_ARCHIVE=archive,
                               ARGUMENTS="/dev/null", REPORT="", **variables)

    def test_unpacks_an_archive_of_the_right_digest(self):
        archive = self.archive()
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        ran = self.install(archive, BIC_ARCHIVE_SHA256=digest)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertTrue(pathlib.Path(self.outputs()["program"]).is_file())

    def test_builds_all_that_the_program_loads(self):
        shutil.copytree(ACTION, self.folder / "ci/action")
        self.write("ci/build", 'printf "%s\\n" "$@" >"$BUILT"\n')
        self.write("build/release/bin/bi-conform", "#!/bin/sh\n").chmod(0o755)
        built = self.folder / "built"
        for libtorch, targets in (("ON", ["programs", "bic_models"]), ("OFF", ["programs"])):
            ran = self.run_script("bash", self.folder / "ci/action/install", BUILT=built,
                                  BIC_LIBTORCH=libtorch)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertEqual(built.read_text().splitlines(), targets)

    def assert_refused(self, ran, part):
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"\A::error title=bi-conform::archive: [^\n]+\n\Z")
        self.assertIn(part, ran.stdout)
        self.assertFalse((self.folder / "output").exists())

    def test_refuses_what_is_not_the_archive(self):
        self.assert_refused(self.install(self.archive(), BIC_ARCHIVE_SHA256="0" * 64), "SHA-256")
        self.assert_refused(self.install("none.tar.gz"), "none.tar.gz")
        self.assert_refused(self.install(self.archive("b/README")), "holds no bin/bi-conform")


class Forge(http.server.BaseHTTPRequestHandler):
    """Keeps what it is asked, as both forges would."""

    def answer(self, code, body):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_GET(self):
        self.server.asked.append(("GET", self.path))
        page = int(re.search(r"[?&]page=(\d+)", self.path).group(1))
        comments = self.server.comments
        self.answer(200, comments[100 * (page - 1):100 * page])

    def write(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.command, self.path, body["body"]))
        token = self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"]
        self.answer(201 if "right" in token else 403, {})

    do_POST = do_PATCH = do_PUT = write

    def log_message(self, *_):
        pass


class Comment(Scripts):
    def setUp(self):
        super().setUp()
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Forge)
        self.server.asked, self.server.comments = [], []
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        address = f"http://127.0.0.1:{self.server.server_port}"
        event = self.write("event.json", '{"pull_request": {"number": 7}}')
        self.github = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "o/r",
                       "GITHUB_EVENT_PATH": event, "BIC_TOKEN": "right"}
        self.gitlab = {"GITLAB_CI": "true", "CI_API_V4_URL": address, "CI_PROJECT_ID": "5",
                       "CI_MERGE_REQUEST_IID": "7", "BIC_TOKEN": "right"}
        self.page = self.write("page.md", "the page\n")

    def comment(self, variables):
        ran = self.run_script(sys.executable, ACTION / "comment.py", self.page, **variables)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_writes_a_first_comment(self):
        for variables, place in ((self.github, "/repos/o/r/issues/7/comments"),
                                 (self.gitlab, "/projects/5/merge_requests/7/notes")):
            self.comment(variables)
            self.assertEqual(self.server.asked[-1],
                             ("POST", place, "<!-- bi-conform -->\nthe page\n"))

    def test_replaces_its_own_comment_wherever_it_stands(self):
        others = [{"id": i, "body": "of a person"} for i in range(150)]
        self.server.comments = others + [{"id": 4711, "body": "<!-- bi-conform -->\nold"}]
        self.comment(self.github)
        self.assertEqual(self.server.asked[-1][:2], ("PATCH", "/repos/o/r/issues/comments/4711"))
        self.comment(self.gitlab)
        self.assertEqual(self.server.asked[-1][:2],
                         ("PUT", "/projects/5/merge_requests/7/notes/4711"))

    def test_says_when_it_may_not_write(self):
        said = self.comment(self.github | {"BIC_TOKEN": "wrong"})
        self.assertRegex(said, r"\A::warning title=bi-conform::no comment: [^\n]*\(403\)\n\Z")

    def test_says_when_nobody_answers(self):
        for error in ("urllib.error.URLError", "TimeoutError", "ConnectionResetError"):
            code = (f"import comment, urllib.error\ndef fail(*_, **__): raise {error}('no answer')\n"
                    "comment.urllib.request.urlopen = fail\ncomment.main()")
            ran = self.run_script(sys.executable, "-c", code, self.page, PYTHONPATH=ACTION, **self.github)
            self.assertEqual((ran.returncode, ran.stdout),
                             (0, "::warning title=bi-conform::no comment: no answer\n"), ran.stderr)

    def test_of_a_page_that_is_too_long_is_cut(self):
        self.page.write_text("x" * 100_000)
        self.comment(self.github)
        self.assertEqual(len(self.server.asked[-1][2]), 65_000)


class Files(unittest.TestCase):
    def assert_fits(self, schema, *files):
        ran = subprocess.run([CI / "check-jsonschema", "--builtin-schema", schema, *files],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_fit_the_public_schemas(self):
        self.assert_fits("vendor.github-actions", ACTION / "action.yml")
        self.assert_fits("vendor.gitlab-ci", CI / "gitlab/bi-conform.yml")

    def test_whole_workflows_of_the_page_fit_them_and_are_short(self):
        page = (CI.parent / "docs/ci.md").read_text()
        workflows = re.findall(r"```yaml\n(# \.github/workflows/.*?)```", page, re.DOTALL)
        self.assertGreaterEqual(len(workflows), 2)
        for text in workflows:
            self.assertLessEqual(len(text.splitlines()), 25)
            with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                file.write(text)
                file.flush()
                self.assert_fits("vendor.github-workflows", file.name)

    def test_the_action_takes_what_the_page_gives_it(self):
        inputs = set(re.findall(r"^  ([a-z0-9-]+):$", (ACTION / "action.yml").read_text().split(
            "\noutputs:")[0], re.MULTILINE))
        page = (CI.parent / "docs/ci.md").read_text()
        given = set()
        for block in re.findall(r"ci/action@.*?(?=\n      - |```)", page, re.DOTALL):
            given |= set(re.findall(r"^          ([a-z0-9-]+):", block, re.MULTILINE))
        self.assertGreater(len(given), 3)
        self.assertLessEqual(given, inputs)

    def test_no_input_is_pasted_into_a_script(self):
        for line in (ACTION / "action.yml").read_text().splitlines():
            if line.strip().startswith("run:"):
                self.assertNotIn("${{", line)


if __name__ == "__main__":
    unittest.main()
