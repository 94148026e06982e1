#!/usr/bin/env python3
"""`bi-conform trace`: where a sample's bits leave those that it has alone. Needs LibTorch."""
import json
import pathlib
import shlex
import tempfile
import unittest

import program


def traced(*arguments, backend="libtorch-invariant"):
    """How it ended, and what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json"
        ended = program.run("trace", "--backend", backend, "--json", file, *arguments, timeout=300)
        return ended, program.parse(file.read_text()) if file.exists() else None


def first_tensor(trace):
    return trace["tensors"][trace["first_divergence"]["tensor"]]


class PlantedFaults(program.ProgramTest):
    """Each is named by the tensor and by the op."""

    def assert_named(self, fault, name, overload, case, *arguments):
        ended, trace = traced("--batch", "5", *arguments, backend="fault:pi0-" + fault)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        tensor, op = first_tensor(trace), trace["first_divergence"]["op"]
        self.assertEqual((tensor["section"], tensor["name"]), name)
        self.assertEqual(op["batched"]["call"]["overload"], overload)
        self.assertIs(op["own"], True)
        self.assertEqual(op["difference"]["differing"], case[1])
        self.assertTrue(op["case"].startswith(case[0]), op["case"])
        self.assertIn(f"repro '{op['case']}' --backend fault:pi0-{fault}", ended.stdout)
        before = trace["tensors"][:trace["first_divergence"]["tensor"]]
        self.assertTrue(all(t["equal"] for t in before))
        return op

    def test_in_the_patch_embedding(self):
        self.assert_named(
            "patch-embedding",
            ("embedding", "input_embeds.selected_image_feature.patch_embeds"),
            "aten::convolution", ("conv2d-patch.alone/fp32:ho3,n44,p7,q7,rgb3,wo3:B5@4#0~B1#0", 1))

    def test_in_attention_of_layer_1(self):
        op = self.assert_named(
            "attention", ("prefill", "step_0.action_joint_model.layer_1.pre_attn.attn_weights"),
            "aten::bmm", ("matmul-r4r4.alone/fp32:k14,m16,n16,s4:B5@2#0~B1#0", 4), "--preset", "tiny-ragged",
            "--position", "2")
        self.assertEqual(op["batched"]["caller"]["overload"], "aten::matmul")
        self.assertEqual([len(t["shape"]) for t in op["batched"]["caller"]["inputs"]], [4, 4])
        self.assertEqual([len(t["shape"]) for t in op["batched"]["call"]["inputs"]], [3, 3])

    def test_in_an_rms_norm(self):
        self.assert_named(
            "rms-norm", ("prefill", "step_0.action_joint_model.layer_1.pre_mlp.vlm"),
            "aten::mean.dim", ("mean-keepdim.alone/fp32:h60:B75@74#0~B15@14#0", 1))

    def test_in_bf16(self):
        self.assert_named(
            "patch-embedding",
            ("embedding", "input_embeds.selected_image_feature.patch_embeds"),
            "aten::convolution", ("conv2d-patch.alone/bf16:ho3,n44", 1), "--dtype", "bf16")


class BundledKernels(program.ProgramTest):
    def test_give_the_same_bits_in_every_tensor(self):
        for model in (["--preset", "tiny-ragged"], ["--preset", "tiny-openpi", "--dtype", "bf16"],
                      ["--model", "decoder"]):
            ended, trace = traced("--batch", "3", "--position", "1", *model)
            self.assertEqual(ended.returncode, 0, ended.stdout[-400:] + ended.stderr)
            self.assertNotIn("first_divergence", trace)
            self.assertTrue(all(t["equal"] for t in trace["tensors"]))
            self.assertTrue(ended.stdout.endswith("all tensors are equal to the bit\n"))

    def test_name_what_is_asked_for(self):
        _, trace = traced("--batch", "2", "--only", "*layer_1.pre_attn.attn_weights")
        self.assertEqual(len(trace["tensors"]), 11)  # the prefill and ten steps
        self.assertEqual({t["name"].split(".")[-1] for t in trace["tensors"]}, {"attn_weights"})
        self.assertGreater(trace["recorded"], 800)


class Stock(program.ProgramTest):
    """Where it differs depends on the machine's kernels; that it says where does not."""

    def test_is_given_an_op_and_a_case_that_repeats_it(self):
        ended, trace = traced("--batch", "5", backend="libtorch")
        if ended.returncode == 0:
            self.skipTest("stock's kernels hold on this machine")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        op = trace["first_divergence"]["op"]
        self.assertTrue(op["batched"]["call"]["inputs"])
        self.assertIs(op["own"], False)
        if "case" in op:
            line = next(l for l in ended.stdout.splitlines() if l.startswith("  repro: "))
            words = shlex.split(line.removeprefix("  repro: "))
            self.assertEqual(words[1:3] + words[3:], ["repro", op["case"], "--backend", "libtorch"])
            again = program.run(*words[1:])
            self.assertIn(again.returncode, (0, 1), again.stderr)


def rows(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


class Audits(program.ProgramTest):
    def audit(self, *arguments, backend="libtorch"):
        ended, audit = traced("--audit", "--batch", "2", *arguments, backend=backend)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended, audit["audit"]

    def test_show_that_matmul_of_rank_4_reaches_bmm(self):
        _, entries = self.audit()
        ranks = {tuple(len(t["shape"]) for t in e["op"]["caller"]["inputs"]) for e in entries
                 if e["op"]["call"]["overload"] == "aten::bmm" and "caller" in e["op"]
                 and e["op"]["caller"]["overload"] == "aten::matmul"}
        self.assertIn((4, 4), ranks)

    def test_name_the_reductions_of_others(self):
        stock, _ = self.audit()
        line = stock.stdout.splitlines()[-1]
        for overload in ("aten::bmm", "aten::_softmax", "aten::native_layer_norm"):
            self.assertIn(f" {overload} ", line + " ")
        own, entries = self.audit(backend="libtorch-invariant")
        self.assertEqual(own.stdout.splitlines()[-1], "reductions that are not the backend's: none")
        self.assertTrue(any(e["own"] and e["reduces"] for e in entries))

    def test_find_a_case_or_a_reason_for_every_call(self):
        for model in (["--preset", "tiny-ragged"], ["--preset", "tiny-openpi", "--dtype", "bf16"],
                      ["--model", "decoder", "--preset", "tiny"]):
            _, entries = self.audit(*model)
            for e in entries:
                self.assertNotIn("the suite has no ", e.get("no_case", ""), json.dumps(e["op"]))

    def test_give_the_committed_sizes(self):
        ran = program.run("trace", "--backend", "libtorch", "--audit", "--shapes", "tiny")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        committed = program.PROJECT / "suites/shapes/pi0_ops_tiny.csv"
        # How often stock makes and moves tensors on the way, which the comments count, depends on
        # the CPU.
        self.assertEqual(rows(ran.stdout), rows(committed.read_text()))
        self.assertGreater(len(rows(ran.stdout)), 50)


class OpsOfTheModels(program.ProgramTest):
    def test_hold_on_the_bundled_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = program.run("--backend", "libtorch-invariant", "--suite", "pi0-ops", "--no-perf",
                              "--out", folder, timeout=600)
            self.assertEqual(ran.returncode, 0, ran.stdout[-600:] + ran.stderr)
            report = program.parse((pathlib.Path(folder) / "report.json").read_text())
        self.assertLessEqual({"addmm", "bmm", "conv2d", "layer_norm", "matmul", "mean", "softmax"},
                             {row["op"] for row in report["ops"]})


class Mistakes(program.ProgramTest):
    def test_are_refused_before_any_work(self):
        trace = ["trace", "--backend", "libtorch"]
        self.assert_refused([*trace, "--batch", "1"], "--batch: '1' is not a whole number from 2")
        self.assert_refused([*trace, "--batch", "3", "--position", "3"], "--position: '3'")
        self.assert_refused([*trace, "--room", "lots"], "--room: 'lots' is not a size")
        self.assert_refused([*trace, "--shapes", "tiny"], "--shapes goes with --audit")
        self.assert_refused([*trace, "--audit", "--shapes", "huge"], "neither 'tiny' nor 'full'")

    def assert_fails(self, part, *arguments):
        ran = program.run("trace", "--backend", "libtorch", *arguments)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: [^\n]+\n\Z")
        self.assertIn(part, ran.stderr)

    def test_that_only_the_worker_knows_are_one_line_too(self):
        self.assert_fails("did you mean 'tiny-ragged'", "--preset", "tiny-raged")
        self.assert_fails("there is no such model", "--model", "pi1")
        self.assert_fails("models run in fp32, bf16 or fp64", "--dtype", "fp16")
        self.assert_fails("raise --room or name fewer with --only", "--room", "1MB", "--preset", "tiny-openpi")
        self.assert_fails("--only 'nothing' names none of the", "--only", "nothing")


if __name__ == "__main__":
    unittest.main()
