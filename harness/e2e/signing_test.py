#!/usr/bin/env python3
"""What a signed report is worth: keygen, sign, verify, prove and certify as users type them."""
import json
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

import disturb
import program

SMALL = ("--op", "mm", "--dtype", "fp32", "--batch", "1,5,33", "--no-perf", "--jobs", "2")
SOUND = disturb.PLUGINS / "mm.so"
UNSOUND = disturb.PLUGINS / "leaves_one_out.so"


def load(path):
    return program.parse(path.read_text())


class Signed(program.ProgramTest):
    """A small conforming run, signed, and a policy that accepts it."""

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        ran = program.run("--backend", f"plugin:{SOUND}", *SMALL, "--out", cls.shared / "run")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        for name, kind in (("ci", "p256"), ("verifier", "ed25519"), ("stranger", "p256")):
            assert program.run("keygen", cls.shared / name, "--type", kind).returncode == 0

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = self.folder / "report.json"
        shutil.copy(self.shared / "run/report.json", self.report)
        self.envelope = self.folder / "report.intoto.jsonl"
        self.policy = self.folder / "policy.json"
        self.write_policy()

    def key(self, name):
        return self.shared / f"{name}.pem"

    def write_policy(self, **members):
        pem = {name: (self.shared / f"{name}.pub.pem").read_text() for name in ("ci", "verifier")}
        version = load(self.report)["suite"]["version"]
        policy = {"policy": "urn:example:quick", "reporters": [pem["ci"]],
                  "certifiers": [pem["verifier"]], "suites": [version],
                  "strength": "quick", "level": "BI-3",
                  "required": [{"ops": ["mm"], "dtypes": ["fp32"]}], "coverage_ppm": 0,
                  "report_days": 30, "certificate_days": 90} | members
        self.policy.write_text(json.dumps(policy))

    def sign(self, key="ci"):
        ran = program.run("sign", self.report, "--key", self.key(key))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def edit(self, change):
        """As somebody does who holds the file."""
        report = load(self.report)
        change(report)
        self.report.write_text(json.dumps(report, sort_keys=True, separators=(",", ":")) + "\n")

    def verify(self, *arguments):
        return program.run("verify", self.envelope, "--policy", self.policy, *arguments)

    def replay(self, cases, backend=SOUND):
        return self.verify("--replay", cases, "--backend", f"plugin:{backend}")

    def assert_line(self, ran, code, begin):
        self.assertEqual((ran.returncode, ran.stdout), (code, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: [^\n]+\n\Z")
        self.assertTrue(ran.stderr.startswith(f"bi-conform: {begin}"), ran.stderr)


class Accepted(Signed):
    def test_with_its_artifact_and_all_of_its_cases_run_again(self):
        self.sign()
        ran = self.verify("--artifact", SOUND)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        ran = self.replay(1000)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        cases = len(load(self.report)["cases"])
        self.assertRegex(ran.stdout, rf"(?m)^replay: {cases} cases .*; equal bits$")
        self.assertRegex(ran.stdout, r"(?m)^report: BI-3 on 1 of \d+ ops, quick, backend plugin:")

    def test_as_a_sigstore_bundle_too(self):
        self.sign()
        self.envelope = self.folder / "report.sigstore.json"
        self.assertEqual(self.verify().returncode, 0)

    def test_by_other_peoples_programs(self):
        for name in ("ci", "verifier"):
            self.sign(name)
            ran = subprocess.run(
                [program.PROJECT / "ci/securesystemslib",
                 program.PROJECT / "harness/e2e/signing_interop.py", self.envelope,
                 self.shared / f"{name}.pub.pem"], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertIn("2 envelopes", ran.stdout)

    def test_bits_of_another_library_are_not_compared(self):
        self.sign()
        other = self.folder / "mm.so"
        shutil.copy(SOUND, other)
        with other.open("ab") as file:
            file.write(b"\0")
        ran = self.replay(5, other)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("bits are not comparable: the backend's libraries differ", ran.stdout)

    def test_one_case_without_the_report(self):
        self.sign()
        proof = self.folder / "proof.json"
        case = load(self.report)["cases"][7]["case"]
        ran = program.run("prove", case, "--report", self.report, "--out", proof)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.report.unlink()
        self.assertEqual(self.verify("--proof", proof).returncode, 0)
        self.assert_line(self.verify(), 5, 'report: "report.json" (sha256 ')
        proof.write_text(proof.read_text().replace('"status":"pass"', '"status":"fail"'))
        self.assert_line(self.verify("--proof", proof), 5, "proof: case ")


class Forged(Signed):
    def test_by_a_stranger(self):
        self.sign("stranger")
        self.assert_line(self.verify(), 5, "signature: no key of the policy made it")

    def test_by_a_certifier_in_the_role_of_a_reporter(self):
        self.sign("verifier")
        self.assert_line(self.verify(), 5, "role: ")

    def test_with_another_artifact(self):
        self.sign()
        self.assert_line(self.verify("--artifact", UNSOUND), 5, "artifact: ")

    def test_after_it_was_signed(self):
        self.sign()
        self.edit(lambda r: r["verdict"].update(level="BI-0"))
        self.assert_line(self.verify(), 5, "report: its file has sha256 ")

    def test_in_its_verdict_before_it_was_signed(self):
        self.edit(lambda r: r["ops"][0].update(level="BI-0"))
        self.sign()
        self.assert_line(self.verify(), 5, "verdict: ")
        self.edit(lambda r: r["ops"][0].update(level="BI-3"))
        self.edit(lambda r: r["verdict"].update(certifiable=True, why_not_certifiable=[]))
        self.sign()
        self.assert_line(self.verify(), 5, "verdict: ")

    def test_in_the_rows_before_it_was_signed(self):
        def move(report):
            rows = report["ops"][0]["relations"]
            rows[0]["passed"] += 1
            rows[1]["passed"] -= 1

        self.edit(move)
        self.sign()
        self.assert_line(self.verify(), 5, "rows: mm fp32: ")

    def test_with_counters_that_do_not_add_up_is_not_even_signed(self):
        self.edit(lambda r: r["cases"].pop(3))
        self.assert_line(program.run("sign", self.report, "--key", self.key("ci")), 2,
                         "report.json: totals: ")

    def test_with_a_case_that_was_never_run(self):
        def rename(report):
            # As good as any other, but for the digest of what it was never given.
            case = report["cases"][0]
            case["case"] = case["case"].replace(":s=", ":s=0000", 1)[:-4]

        self.edit(rename)
        self.sign()
        self.assert_line(self.replay(1000), 5, "replay: ")

    def test_with_the_cases_of_another_backend(self):
        self.sign()
        self.assert_line(self.replay(1000, UNSOUND), 5,
                         "replay: the status is 'pass' in the report and 'fail' here: mm.")

    def test_with_a_seed_of_the_submitters_choice(self):
        self.sign()
        self.write_policy(nonce="of today")
        self.assert_line(self.verify(), 5, "seed: 000000000000b1c0 is not the one that follows")

    def test_of_a_suite_that_counts_no_more(self):
        self.sign()
        self.write_policy(revoked=[load(self.report)["suite"]["program_sha256"]])
        self.assert_line(self.verify(), 5, "revoked: ")


class Nonce(Signed):
    def test_gives_the_seed_that_a_run_must_take(self):
        backend = ("--backend", f"plugin:{SOUND}")
        ran = program.run("support", *backend, "--nonce", "of today")
        seed = ran.stdout.splitlines()[-1].removeprefix("seed for this nonce: ")
        self.assertRegex(seed, r"\A[0-9a-f]{16}\Z")
        program.run(*backend, *SMALL, "--seed", seed, "--out", self.folder)
        self.sign()
        self.write_policy(nonce="of today")
        ran = self.verify()
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


class Certificates(Signed):
    def certify(self, key):
        return program.run("certify", self.envelope, "--policy", self.policy, "--key",
                           self.key(key), "--out", self.folder / "certificate")

    def test_are_not_made_of_quick_runs(self):
        self.sign()
        self.assert_line(self.certify("verifier"), 5, "certificate: report ")
        self.assertFalse((self.folder / "certificate.intoto.jsonl").exists())

    def test_of_a_report_that_holds_every_rule_are_accepted_until_revoked(self):
        def pretend(report):
            # A liar with a key of their own: nothing in the report contradicts it.
            report["run"].update(strength="standard", filtered=False)
            report["verdict"].update(strength="standard", certifiable=True, why_not_certifiable=[])

        self.edit(pretend)
        self.sign()
        self.write_policy(strength="standard")
        ran = self.certify("verifier")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assert_line(self.replay(1), 5, "replay: the run's plan is not the suite's")
        self.envelope = self.folder / "certificate.intoto.jsonl"
        ran = self.verify("--artifact", SOUND)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertRegex(ran.stdout, r"\Acertificate: BI-3 on 1 of \d+ ops by suite .* on cpu; ")
        self.assert_line(self.verify("--artifact", UNSOUND), 5, "artifact: ")
        self.assert_line(self.replay(1), 2, "--replay: needs a report")
        self.write_policy(strength="standard", level="BI-2")
        self.assert_line(self.verify(), 5, "policy: the certificate was not made under this")

    def test_are_not_made_by_who_signed_the_report(self):
        self.sign()
        self.assert_line(self.certify("ci"), 5, "certificate: the key is none of the policy's")


class Mistakes(Signed):
    def test_are_told_in_one_line(self):
        self.sign()
        self.assert_refused(["keygen", self.folder / "k", "--type", "rsa"], "--type: 'rsa'")
        for arguments, part in (
                (["sign", self.folder / "none.json", "--key", self.key("ci")], "none.json"),
                (["sign", "w" * 300, "--key", self.key("ci")], "File name too long"),
                (["sign", self.report, "--key", self.report], "no unencrypted private key"),
                (["verify", self.envelope, "--policy", self.envelope], "report.intoto.jsonl")):
            self.assert_refused(arguments, part)
        self.assert_refused(["prove", "mm", "--report", self.report], "no case 'mm'")
        self.assert_line(self.replay("none"), 2, "--replay: 'none'")
        self.assert_line(self.verify("--replay", "1"), 2, "--replay: the report is of 'plugin:")

    def test_keys_are_secret_and_never_overwritten(self):
        mode = stat.S_IMODE(self.key("ci").stat().st_mode)
        self.assertEqual(mode, 0o600)
        self.assert_refused(["keygen", self.shared / "ci"], "ci.pem", "File exists")


class Policies(Signed):
    def test_that_are_shipped_want_nothing_but_keys(self):
        self.sign()
        shipped = sorted((program.PROJECT / "ci/policies").glob("*.json"))
        self.assertGreater(len(shipped), 2)
        own = load(self.policy)
        for path in shipped:
            with self.subTest(path.name):
                policy = load(path)
                members = [name for name in policy if not name.startswith("_")]
                self.assertEqual({"_" + name for name in members}, set(policy) - set(members))
                self.assertEqual((policy["reporters"], policy["certifiers"]), ([], []))
                self.policy.write_text(json.dumps(policy))
                self.assert_line(self.verify(), 5, "signature: no key of the policy made it")
                policy |= {name: own[name] for name in ("reporters", "certifiers")}
                self.policy.write_text(json.dumps(policy))
                ran = self.verify()
                # A small run is no reason to certify; the reason is one of the policy's.
                self.assertIn(ran.returncode, (0, 5), ran.stderr)
                rules = r"\A(|bi-conform: (strength|required|coverage): .*\n)\Z"
                self.assertRegex(ran.stderr, rules)


if __name__ == "__main__":
    unittest.main()
