#!/usr/bin/env python3
"""What `bi-conform badge` draws, and of what it draws nothing."""
import unittest
import xml.etree.ElementTree as xml

import program
from signing_test import Signed

SVG = "{http://www.w3.org/2000/svg}"
GREY = "#6b6b6b"


class Badge(Signed):
    def setUp(self):
        super().setUp()
        self.badge = self.folder / "badge.svg"
        # A liar with a key of their own, as in signing_test: only whole runs are certified, and they
        # take minutes.
        self.edit(lambda r: r["run"].update(strength="standard", filtered=False))
        self.edit(lambda r: r["verdict"].update(strength="standard", certifiable=True,
                                                why_not_certifiable=[]))
        self.sign()
        self.write_policy(strength="standard")
        ran = program.run("certify", self.envelope, "--policy", self.policy, "--key",
                          self.key("verifier"), "--out", self.folder / "certificate")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def draw(self, *arguments, file="certificate.intoto.jsonl"):
        return program.run("badge", self.folder / file, "--policy", self.policy, "--out",
                           self.badge, *arguments)

    def drawn(self, *arguments, **keywords):
        ran = self.draw(*arguments, **keywords)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        svg = xml.fromstring(self.badge.read_text())
        self.assertEqual((svg.tag, svg.get("role")), (f"{SVG}svg", "img"))
        self.assertIn(ran.stdout.splitlines()[1], svg.get("aria-label"))
        return svg.findtext(f"{SVG}title"), svg.findall(f"{SVG}rect")[1].get("fill")

    def assert_nothing_drawn(self, ran, code, begin):
        self.assert_line(ran, code, begin)
        self.assertFalse(self.badge.exists())

    def test_is_drawn_of_a_certificate(self):
        title, colour = self.drawn()
        self.assertRegex(title, r"\Abatch invariance: BI-3 on 1 of \d+ ops, until \d{4}-\d\d-\d\d\Z")
        self.assertNotEqual(colour, GREY)
        self.assertEqual(self.drawn(file="certificate.sigstore.json"), (title, colour))

    def test_turns_grey_when_the_certificate_expires(self):
        day = self.drawn()[0].rsplit(" ", 1)[1]
        title, colour = self.drawn("--today", day)
        self.assertTrue(title.endswith(f"expired {day}"), title)
        self.assertEqual(colour, GREY)

    def test_of_a_report_is_refused(self):
        self.assert_nothing_drawn(self.draw(file="report.intoto.jsonl"), 2,
                                  f"'{self.envelope}' is a report")
        self.assert_nothing_drawn(self.draw(file="report.json"), 5, "envelope: ")

    def test_of_what_the_policy_does_not_accept_is_refused(self):
        self.write_policy(strength="exhaustive")
        self.assert_nothing_drawn(self.draw(), 5, "strength: ")
        stranger = (self.shared / "stranger.pub.pem").read_text()
        self.write_policy(strength="standard", certifiers=[stranger])
        self.assert_nothing_drawn(self.draw("--today", "2999-01-01"), 5, "signature: ")

    def test_of_a_day_before_the_certificate_is_refused(self):
        self.assert_nothing_drawn(self.draw("--today", "2020-01-01"), 5, "expiry: it was made at")

    def test_mistakes_are_told_in_one_line(self):
        self.assert_nothing_drawn(self.draw("--profile", "linear/fp32"), 2,
                                  "--profile: the certificate holds no 'linear/fp32'")
        self.assert_nothing_drawn(self.draw("--today", "soon"), 2, "--today 'soon' is no day")
        certificate = self.folder / "certificate.intoto.jsonl"
        self.assert_refused(["badge", certificate], "--policy")


if __name__ == "__main__":
    unittest.main()
