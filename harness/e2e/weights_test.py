#!/usr/bin/env python3
"""`--weights`: whole models with weights of files. Needs LibTorch."""
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import struct
import tempfile
import unittest

import program
import tiny_weights

FOLDER = pathlib.Path(tempfile.mkdtemp())
TENSORS = tiny_weights.tensors()
MODEL = ("--suite", "pi0", "--preset", "tiny", "--dtype", "fp32", "--no-perf")


def setUpModule():
    write("tiny.safetensors", tiny_weights.safetensors(TENSORS))


def tearDownModule():
    shutil.rmtree(FOLDER)


def write(name, content):
    (FOLDER / name).parent.mkdir(exist_ok=True)
    (FOLDER / name).write_bytes(content)
    return FOLDER / name


def mutated():
    """One bit of one weight is another."""
    name = "vision_tower.vision_model.encoder.layers.0.mlp.fc1.bias"
    shape, data = TENSORS[name]
    return TENSORS | {name: (shape, bytes([data[0], data[1], data[2] ^ 0x10]) + data[3:])}


def sharded(folder):
    """The index of two shards."""
    names = sorted(TENSORS)
    shards = {"a.safetensors": names[:40], "b.safetensors": names[40:]}
    for shard, held in shards.items():
        write(f"{folder}/{shard}", tiny_weights.safetensors({n: TENSORS[n] for n in held}))
    index = {"weight_map": {n: shard for shard, held in shards.items() for n in held}}
    return write(f"{folder}/model.safetensors.index.json", json.dumps(index).encode())


def judged(*arguments):
    """A run of repeats, and its report."""
    out = FOLDER / "report"
    ended = program.run("--backend", "libtorch-invariant", *MODEL, "--level", "BI-0", "--relation",
                        "repeat", "--relation", "fresh", "--out", out, *arguments, timeout=300)
    return ended, program.parse((out / "report.json").read_text())


def digests(report):
    """Of the outputs, by case without its weights."""
    return {re.sub(r":weights=[0-9a-f]{16}", "", c["case"]): c["digest"] for c in report["cases"]}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Runs(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.file = FOLDER / "tiny.safetensors"
        cls.of_synthetic = judged()[1]
        cls.ended, cls.report = judged("--weights", cls.file)

    def test_with_the_synthetic_weights_in_a_file_have_the_same_bits(self):
        self.assertEqual(self.ended.returncode, 0, self.ended.stdout + self.ended.stderr)
        self.assertGreater(len(self.report["cases"]), 4)
        self.assertEqual(digests(self.report), digests(self.of_synthetic))

    def test_say_whose_weights_they_are_of(self):
        digest = sha256(self.file)
        self.assertEqual(self.report["suite"]["weights"],
                         {"preset": "tiny", "file": str(self.file), "sha256": digest})
        self.assertNotIn("weights", self.of_synthetic["suite"])
        self.assertNotEqual(self.report["run"]["plan"], self.of_synthetic["run"]["plan"])
        self.assertIn(f"weights of tiny: {self.file}, SHA-256 {digest}", self.ended.stdout)
        for case in self.report["cases"]:
            self.assertIn(f":weights={digest[:16]}:", case["case"])

    def test_with_another_bit_in_a_weight_have_other_bits(self):
        other = write("mutated.safetensors", tiny_weights.safetensors(mutated()))
        ended, report = judged("--weights", other)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        same, synthetic = digests(report), digests(self.of_synthetic)
        self.assertFalse([case for case in set(same) & set(synthetic) if same[case] == synthetic[case]])

    def test_of_a_folder_of_shards_are_those_of_the_file(self):
        index = sharded("shards")
        ended, report = judged("--weights", index.parent)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(digests(report), digests(self.of_synthetic))
        listed = [index, index.parent / "a.safetensors", index.parent / "b.safetensors"]
        printed = "".join(f"{sha256(p)}  {p.name}\n" for p in listed)
        self.assertEqual(report["suite"]["weights"]["sha256"],
                         hashlib.sha256(printed.encode()).hexdigest())

    def test_are_judged_by_a_reference_of_the_same_weights(self):
        scaled = {n: (shape, struct.pack("<7f", *[3.0] * 7) if n == "action_decoder.bias" else data)
                  for n, (shape, data) in TENSORS.items()}
        other = write("scaled.safetensors", tiny_weights.safetensors(scaled))
        ended, report = judged("--relation", "accuracy", "--weights", other)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertGreater(report["ops"][0]["worst_error_ppm"], 0)
        self.assertEqual([row["status"] for row in report["models"]], ["pass"])

    def test_are_repeated_with_the_weights_and_not_without(self):
        case = self.report["cases"][0]["case"]
        repro = ["repro", case, "--backend", "libtorch-invariant"]
        self.assertEqual(program.run(*repro, "--weights", self.file).returncode, 0)
        digest = sha256(self.file)[:16]
        self.assert_refused(repro, f"weights of SHA-256 {digest}", "give their file with --weights")
        other = write("other.safetensors", tiny_weights.safetensors(mutated()))
        self.assert_refused([*repro, "--weights", other], f"'{other}' has SHA-256 {sha256(other)[:16]}",
                            f"the case's weights have {digest}")
        repro[1] = self.of_synthetic["cases"][0]["case"]
        self.assert_refused([*repro, "--weights", self.file], "--weights", "synthetic weights")

    def test_print_a_repro_line_that_has_the_weights(self):
        out = FOLDER / "stock"
        ended = program.run("--backend", "fault:pi0-patch-embedding", *MODEL, "--relation", "alone",
                            "--weights", self.file, "--out", out, timeout=300)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        line = re.search(r"^repro: (.*)$", ended.stdout, re.MULTILINE)[1]
        self.assertIn(f"--weights {self.file}", line)
        self.assertEqual(program.run(*shlex.split(line)[1:]).returncode, 1)


class OtherVerbs(program.ProgramTest):
    def test_trace_the_model_of_the_file(self):
        traces = []
        for name, more in [("a", []), ("b", ["--weights", FOLDER / "tiny.safetensors"])]:
            file = FOLDER / f"trace-{name}.json"
            ended = program.run("trace", "--backend", "fault:pi0-rms-norm", "--preset", "tiny", "--batch",
                                "4", "--json", file, *more)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            traces.append(program.parse(file.read_text()))
        self.assertEqual(traces[1].pop("weights")["sha256"], sha256(FOLDER / "tiny.safetensors"))
        self.assertEqual(traces[0], traces[1])

    def test_time_the_model_of_the_file(self):
        file = FOLDER / "perf.json"
        ended = program.run("perf", "--suite", "pi0", "--backend", "libtorch-invariant", "--trials", "1",
                            "--batch", "2", "--weights", FOLDER / "tiny.safetensors", "--json", file)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        [post] = json.loads(file.read_text())
        self.assertEqual(post["bi_conform"]["weights"]["preset"], "tiny")


class Mistakes(program.ProgramTest):
    def refused(self, content, *parts):
        file = write("wrong.safetensors", content)
        for verb in ([*MODEL], ["trace", "--preset", "tiny"],
                     ["perf", "--suite", "pi0", "--preset", "tiny"]):
            self.assert_refused([*verb, "--backend", "libtorch", "--weights", file], "--weights: ",
                                str(file), *parts)

    def test_in_a_file_are_one_line(self):
        whole = tiny_weights.safetensors(TENSORS)
        self.refused(whole[:-1], "truncated: tensor")
        self.refused(struct.pack("<Q", 1 << 40) + whole[8:], "header", "longer than")
        length = struct.unpack("<Q", whole[:8])[0]
        header = json.loads(whole[8:8 + length])
        first, second = list(header)[:2]
        begin = header[first]["data_offsets"][0]
        header[second]["data_offsets"] = [begin, begin + len(TENSORS[second][1])]
        text = json.dumps(header).encode()
        self.refused(struct.pack("<Q", len(text)) + text + whole[8 + length:], "overlaps")

    def test_in_its_tensors_are_one_line(self):
        bias = "action_decoder.bias"
        shape, data = TENSORS[bias]
        without = {n: t for n, t in TENSORS.items() if n != bias}
        self.refused(tiny_weights.safetensors(without), "1 of the", f"missing, the first '{bias}'")
        self.refused(tiny_weights.safetensors(TENSORS | {bias: ([1, 7], data)}), f"{bias}", "[1,7]")
        self.refused(tiny_weights.safetensors(TENSORS | {"more": (shape, data)}), "1 tensors", "more")

    def test_in_the_command_line_are_one_line(self):
        file = FOLDER / "tiny.safetensors"
        run = ["--backend", "libtorch", "--weights", file]
        self.assert_refused(run, "--weights", "one --preset")
        self.assert_refused([*run, "--preset", "tiny", "--preset", "tiny-ragged"], "one --preset")
        self.assert_refused([*run, "--suite", "decoder", "--preset", "tiny"], "add --suite pi0")
        self.assert_refused([*run, "--preset", "tiny-raged"], "did you mean 'tiny-ragged'")
        self.assert_refused(["--backend", "libtorch", *MODEL, "--weights", FOLDER / "no.safetensors"],
                            "no.safetensors")
        self.assert_refused(["trace", "--model", "decoder", *run], "synthetic ones only")


if __name__ == "__main__":
    unittest.main()
