#!/usr/bin/env python3
"""What the program answers without a backend: mistakes, help and words. Needs no LibTorch."""
import pathlib
import tempfile
import unittest

import program

BACKEND = ("--backend", "libtorch-invariant")

# Arguments beside --backend, and what the one line must hold.
MISTAKES = [
    (["--op", "sofmax"], "--op", "'sofmax'", "did you mean 'softmax'?"),
    (["--op", ""], "--op", "empty"),
    (["--dtype", "fp23"], "--dtype", "'fp23'", "did you mean 'fp32'?"),
    (["--relation", "alnoe"], "--relation", "'alnoe'", "did you mean 'alone'?"),
    (["--level", "BI-7"], "--level", "'BI-7'", "BI-3"),
    (["--level", "bi-2"], "--level", "did you mean 'BI-2'?"),
    (["--bacth", "3"], "unknown flag '--bacth'", "did you mean '--batch'?"),
    (["-x"], "unknown flag '-x'"),
    (["mm"], "unknown argument 'mm'"),
    (["--seed", "xyz"], "--seed", "'xyz'", "hexadecimal"),
    (["--seed", "12345678123456789"], "--seed", "16 digits"),
    (["--seed", ""], "--seed", "empty"),
    (["--seed"], "--seed", "value is missing"),
    (["--seed", "1", "--seed", "2"], "--seed is given 2 times"),
    (["-k", "nothing of this name"], "nothing is selected", "-k nothing of this name"),
    (["-k", "("], "-k", "regular expression"),
    (["--op", "sum", "--relation", "zeropad"], "nothing is selected"),
    (["--op", "mm", "--relation", "threads", "--level", "BI-2"], "nothing is selected",
     "--op mm --relation threads --level BI-2"),
    (["--op", "mm", "--dtype", "fp32", "-k", "bf16"], "nothing is selected"),
    (["--dims", "k"], "--dims", "'k'", "NAME=NUMBER"),
    (["--dims", "k=0"], "--dims k", "'0'"),
    (["--dims", "k=7x"], "--dims k", "'7x'"),
    (["--dims", "k=16777217"], "--dims k", "16777216"),
    (["--dims", "k=3,k=4"], "--dims", "'k' is given twice"),
    (["--dims", "k=3,"], "--dims", "NAME=NUMBER"),
    (["--dims", ""], "--dims", "empty"),
    (["--op", "gelu", "--dims", "k=3"], "--dims", "'k'", "known: h"),
    (["--op", "mm", "--dims", "k=1024,n=16777216"], "'w' of mm in fp32", "8 GiB"),
    (["--op", "mm", "--dims", "k=65536", "--batch", "65536"], "'x' of mm in fp32", "65536"),
    (["--batch", "0"], "--batch", "'0'"),
    (["--batch", "1,,8"], "--batch", "''"),
    (["--batch", "1,"], "--batch", "''"),
    (["--batch", "eight"], "--batch", "'eight'"),
    (["--batch", "65537"], "--batch", "65536"),
    (["--timeout", "3x"], "--timeout", "'3x'", "30s"),
    (["--timeout", "0"], "--timeout", "'0'"),
    (["--timeout", "-1s"], "--timeout", "'-1s'"),
    (["--timeout", "nan"], "--timeout", "'nan'"),
    (["--timeout", "0.1ms"], "--timeout", "'0.1ms'"),
    (["--budget", "1h"], "--budget", "'1h'"),
    (["--budget", ""], "--budget", "empty"),
    (["--isolation", "thread"], "--isolation", "'thread'", "process"),
    (["--shapes", "nowhere.csv"], "--shapes", "'nowhere.csv'"),
    (["--shapes", "."], "--shapes", "'.'"),
    (["--shapes", "/dev/null"], "--shapes", "no rows"),
    (["--shapes", "nowhere.csv", "--dims", "k=3"], "--shapes", "--dims"),
    (["--suite", "pubic"], "--suite", "'pubic'", "did you mean 'public'?"),
    (["--suite", "public", "--dims", "k=3"], "--suite excludes --dims"),
    (["--suite", "public", "--batch", "2"], "--suite excludes --dims"),
    (["--suite", "public", "--op", "softmax"], "nothing is selected"),
    (["--jobs", "0"], "--jobs", "'0'", "64"),
    (["--jobs", "two"], "--jobs", "'two'"),
    (["--quick=3"], "quick"),
    (["--quick", "--standard"], "--quick", "--standard"),
    (["--standard", "--exhaustive"], "--exhaustive"),
]

CASE = "mm.alone/fp32:k67,n41:B8@3#0~B1#0:fill=cancel:s=78bbb2f0b6774a09"

# What is changed in CASE, into what, and what the one line must hold.
CASE_MISTAKES = [
    (CASE, "nonsense", "field 'dtype'", "'nonsense'"),
    (CASE, "mm.alone/fp32", "field 'dims'"),
    ("mm.alone", "mm", "field 'relation'"),
    ("mm.", "MM.", "field 'op'", "'MM'"),
    ("mm.", "mn.", "field 'op'", "did you mean 'mm'?"),
    ("mm.", "mm-x.", "'x'"),
    ("alone", "alnoe", "field 'relation'", "did you mean 'alone'?"),
    ("fp32", "fp33", "field 'dtype'", "'fp33'"),
    ("k67,n41", "k67", "field 'dims'", "'n'"),
    ("k67,n41", "k67,n41,q3", "field 'dims'", "'q'"),
    ("k67,n41", "k67,n0", "field 'dims'", "'n"),
    ("k67,n41", "n41,k67", "field 'dims'", "'k67,n41'"),
    ("k67", "k16777217", "field 'dims'", "16777216"),
    ("k67,n41", "k16777216,n16777216", "field 'dims'", "GiB"),
    (":B8", ":eps=1:B8", "field 'attributes'", "'eps'"),
    (":B8", ":eps:B8", "field 'attributes'", "'eps'"),
    ("@3", "@8", "field 'trial'", "position 8"),
    ("B8@3", "B0", "field 'trial'", "batch of 0"),
    ("B8@3", "B2000000000", "field 'trial'", "65536"),
    ("#0~", "~", "field 'trial'", "'B8@3'"),
    ("#0~", "#0,zz=1~", "field 'trial'", "'zz=1'"),
    ("#0~", "#0,qpad=3~", "field 'trial'", "'q'"),
    ("#0~", "#0,form=inplace~", "field 'trial'", "'inplace'"),
    ("#0~", "#0,store=s~", "field 'trial'", "rank 3"),
    ("#0~", "#0,t=100000~", "field 'trial'", "t=100000"),
    ("#0~", "#0,ld=2000000000~", "field 'trial'", "ld=2000000000"),
    ("#0~", "#0,worker=2~", "field 'trials'", "second trial of peer"),
    ("#0~", "#0,worker=3~", "field 'trial'", "worker=3"),
    ("#0~", "#0,run=3~", "field 'trial'", "run=3"),
    ("~B1#0", "", "field 'trials'", "takes 2", "got 1"),
    ("~B1#0", "~B1#0~B2#0", "field 'trials'", "got 3"),
    ("~B1#0", "~B1#1", "field 'trials'", "samples 0 and 1"),
    ("~B1#0", "~B8@3#0", "field 'trials'", "same"),
    ("alone", "accuracy", "field 'trials'", "takes 1", "got 2"),
    ("cancel", "cancle", "field 'fill'", "cancle"),
    ("cancel", "cancel+foo", "field 'fill'", "foo"),
    ("fill=", "", "field 'fill'", "'cancel'"),
    ("s=78bbb2f0b6774a09", "s=xyz", "field 'seed'", "'s=xyz'"),
    ("s=78bbb2f0b6774a09", "s=12", "field 'seed'", "s=0000000000000012"),
]


class Mistake(program.ProgramTest):
    def test_in_a_flag_is_answered_in_one_line(self):
        for arguments, *parts in MISTAKES:
            with self.subTest(arguments):
                self.assert_refused([*BACKEND, *arguments], *parts)

    def test_in_a_case_string_names_the_field(self):
        for old, new, *parts in CASE_MISTAKES:
            with self.subTest(new):
                self.assertIn(old, CASE)
                self.assert_refused(["repro", CASE.replace(old, new), *BACKEND], *parts)

    def test_in_the_backend_names_the_nearest_one(self):
        wrong = ["--backend", "libtorch-invarant"]
        for verb in [[], ["run"], ["support"], ["repro", CASE]]:
            with self.subTest(verb):
                self.assert_refused([*verb, *wrong], "did you mean 'libtorch-invariant'?")
        self.assert_refused(["--backend", "fault:crashs"], "did you mean 'fault:crashes'?")

    def test_of_leaving_out_the_backend_names_those_there_are(self):
        for arguments in [[], ["--op", "mm"], ["support"], ["repro", CASE]]:
            with self.subTest(arguments):
                self.assert_refused(arguments, "--backend is missing", "libtorch-invariant")

    def test_in_a_verb_or_a_word_names_the_nearest_one(self):
        self.assert_refused(["rnu"], "unknown verb 'rnu'", "did you mean 'run'?")
        self.assert_refused(["list", "relation"], "'relation'", "did you mean 'relations'?")
        self.assert_refused(["list", "nosuch"], "'nosuch'", "relations")
        self.assert_refused(["list", "--al"], "unknown flag '--al'", "bi-conform list --help")
        self.assert_refused(["explain", "vacuos"], "'vacuos'", "did you mean 'vacuous'?")
        self.assert_refused(["explain", "nosuch"], "'nosuch'")
        self.assert_refused(["explain"], "word")
        self.assert_refused(["repro", *BACKEND], "case")

    def test_in_a_path_that_no_system_call_takes_names_the_path(self):
        name = "w" * 300
        for verb in [["render", name], ["prove", CASE, "--report", name], ["diff", name, name]]:
            with self.subTest(verb[0]):
                self.assert_refused(verb, name, "File name too long")

    def test_in_the_folder_of_a_run_names_the_folder(self):
        name = "w" * 300
        self.assert_refused([*BACKEND, "--out", name], "--out", name, "File name too long")
        self.assert_refused([*BACKEND, "--resume", name], "--resume", name, "File name too long")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "loop").symlink_to("loop")
            (folder / "file").write_text("")
            (folder / "run/journal.jsonl").mkdir(parents=True)
            (folder / "full/journal.jsonl/kept").mkdir(parents=True)
            for flag in ["--out", "--resume"]:
                for place in ["loop", "file", "file/deeper"]:
                    with self.subTest(flag=flag, place=place):
                        where = str(folder / place)
                        self.assert_refused([*BACKEND, flag, where], flag, where)
            self.assert_refused([*BACKEND, "--resume", str(folder / "run")],
                                str(folder / "run/journal.jsonl"), "cannot read")
            self.assert_refused([*BACKEND, "--out", str(folder / "full")],
                                str(folder / "full/journal.jsonl"), "cannot be replaced")

    def test_with_a_line_break_is_still_answered_in_one_line(self):
        self.assert_refused(["--backend", "a\nb"], "'a?b'")


class Help(program.ProgramTest):
    def assert_printed(self, *arguments):
        ran = program.run(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_names_the_flags_and_the_verbs(self):
        text = self.assert_printed("--help")
        for word in ["--backend", "--out", "--seed", "repro", "list", "support", "explain"]:
            self.assertIn(word, text)
        for verb in ["run", "repro", "list", "support", "explain"]:
            self.assertIn("--help", self.assert_printed(verb, "--help"))

    def test_gives_the_version(self):
        self.assertRegex(self.assert_printed("--version"), r"\Abi-conform \d+\.\d+\.\d+\n\Z")

    def test_explains_every_status_reason_and_level(self):
        words = [w for d in ["status", "reason", "level"] for w in program.words_of_schema(d)]
        self.assertGreater(len(words), 30)
        for word in words:
            with self.subTest(word):
                self.assertRegex(self.assert_printed("explain", word), rf"\A{word}: .+\n\Z")

    def test_explains_what_it_lists(self):
        for kind, known in [("ops", "mm"), ("relations", "zeropad"), ("laws", "cancel")]:
            listed = [line.split()[0] for line in self.assert_printed("list", kind).splitlines()]
            self.assertIn(known, listed)
            for word in listed:
                with self.subTest(word):
                    self.assertRegex(self.assert_printed("explain", word), rf"\A{word}: .+\n\Z")

    def test_lists_ops_first_and_the_backends(self):
        self.assertEqual(self.assert_printed("list"), self.assert_printed("list", "ops"))
        backends = self.assert_printed("list", "backends").split()
        for name in ["libtorch", "libtorch-invariant", "fault:split-by-batch"]:
            self.assertIn(name, backends)


if __name__ == "__main__":
    unittest.main()
