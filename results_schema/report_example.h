#pragma once

// Internal, for tests: a small report that uses every member, and agrees with itself.

#include "results_schema/report.h"

namespace bic::report {

inline CaseResult example_pass() {
  CaseResult pass;
  pass.case_name = "mm.alone/bf16:k64:B7@3#42~B1#42:fill=cancel:s=0000000000000001";
  pass.status = Status::kPass;
  pass.digest = "00ff";
  pass.inputs = std::string(64, '7');
  return pass;
}

inline CaseResult example_fail() {
  CaseResult fail;
  fail.case_name = "mm.alone/bf16:k64:B9@3#42~B1#42:fill=cancel:s=0000000000000001";
  fail.status = Status::kFail;
  fail.reasons = {Reason::kBits, Reason::kAccuracy};
  fail.digest = "a0";
  fail.detail = Detail{12, 1024, 17, "0x3f1c", "0x3f1d", 1, 5, "12 of 1024 elements differ"};
  return fail;
}

inline Failure example_failure() {
  Failure failure;
  failure.found = example_fail().case_name;
  failure.shrunk = example_fail();
  failure.shrunk.case_name = "mm.alone/bf16:k2:B8#0~B1#0:fill=cancel:s=0000000000000001";
  failure.trials = 31;
  failure.classes = {{1, 7}, {8, 9}};
  failure.relations = {{"repeat", Status::kPass}, {"alone", Status::kFail}};
  return failure;
}

inline OpRow example_op() {
  OpRow op;
  op.op = "mm";
  op.dtype = DType::kBFloat16;
  op.level = Level::kRepeatable;
  op.cases[Status::kPass] = 1;
  op.cases[Status::kFail] = 1;
  op.cases[Status::kSkipped] = 3;
  op.worst_error_ppm = 130000;
  op.why = "alone: bits";
  op.problems = {2, 0, 1, 0};
  op.relations = {{"alone", true, 1, 1, 1, 0, 3, 2}};
  op.throughput = Throughput{1000, 900, 900000, 20000, "k64,n64 B=8", "flops", 65536, true};
  op.throughput->ratios_ppm = {880000, 920000};
  op.throughput->backend_blocks_ns = {1010, 990};
  op.throughput->stock_blocks_ns = {889, 911};
  return op;
}

inline DecoderRow example_decoder() {
  DecoderRow row;
  row.question = {"tiny", DType::kBFloat16, Seed{0x9f3c51d20b7e4a11}, 200, 40, 16, 2};
  row.status = Status::kFail;
  row.reasons = {Reason::kBits};
  row.message = "2 completions";
  row.answer = {.requests = 200,
                .distinct = 2,
                .alone = {17, 3},
                .least_lead = "0x1p-6",
                .tokens = 3508,
                .different = 12,
                .largest = "0x1.8p-18",
                .first_token = DecoderToken{3, 1, 3, 5},
                .first_logit = DecoderValue{2, 0, 17, "0x3ff0000000000000", "0x3ff0000000000001"},
                .first_log_probability = DecoderValue{1, 0, 17, "0xbff1", "0xbff2"},
                .traffic = {900, 300, 8, 8, 150, 4000}};
  row.killed_workers = 1;
  return row;
}

/// One without a difference.
inline DecoderRow example_held_decoder() {
  DecoderRow row = example_decoder();
  row.status = Status::kPass;
  row.reasons.clear();
  row.answer->distinct = 1;
  row.answer->different = 0;
  row.answer->largest = "0x0p+0";
  row.answer->first_token.reset();
  row.answer->first_logit.reset();
  row.answer->first_log_probability.reset();
  return row;
}

inline ModelRow example_model() {
  ModelRow row;
  row.model = "pi0";
  row.preset = "tiny";
  row.dtype = DType::kBFloat16;
  row.status = Status::kPass;
  row.message = "3 tensors, at most 50.0% of the bound: prefill: layer_1.pre_mlp";
  row.accuracy = {3, 0, {"prefill", "layer_1.pre_mlp", 2, "0x1p-8", "0x1p-7", 500'000}};
  row.ops = {{"aten::bmm", {"bf16:3", "bf16:3"}, 12, true, true}};
  return row;
}

inline Report example_report() {
  Report r;
  r.suite = {.version = "0.1.0",
             .relations = {"repeat", "alone"},
             .kill_matrix_sha256 = std::string(64, '0'),
             .program_sha256 = std::string(64, '5'),
             .detection = Detection{.killed = 65, .faults = 66},
             .declared = {{"fused", std::string(64, 'b')}},
             .weights = ModelWeights{"tiny", "/w/model.safetensors", std::string(64, 'e')}};
  r.subject = {"libtorch",
               "cpu",
               R"([{"dtypes":["bf16"],"op":"mm"}])",
               {{"libtorch_cpu.so", std::string(64, 'a'), 12345}},
               {{"torch", "2.11.0"}}};
  r.peer = r.subject;
  r.peer->backend = "plugin:sampler.so";
  r.environment = {"Debian 12", "6.1", "Zen 3", "avx2", 8, 4, {{"OMP_DYNAMIC", "false"}}};
  r.run = {Seed{0x9f3c51d20b7e4a11},
           "standard",
           std::string(64, 'c'),
           Level::kSchedule,
           "bi-conform --backend libtorch",
           "2026-01-02T03:04:05.678Z",
           123456789,
           false,
           true,
           "budget of 60s",
           "public",
           " --python python3.9",
           Shard{1, 4, "--shard", {7}},
           2,
           {"--op", "mm"}};
  r.shards = {{2, 4, "bi-conform", r.run.started, 7, r.environment, {{"torch", "2.11.0"}}}};
  r.ops = {example_op()};
  r.totals = {example_op().cases, 5};
  r.verdict = {false, Level::kRepeatable, "standard", false, {"incomplete"}, 1, 12, 1, "no"};
  r.cases = {example_pass(), example_fail()};
  r.failures = {example_failure()};
  r.decoder = {example_decoder()};
  r.models = {example_model()};
  r.waivers = {{.pattern = "softmax", .reason = "slow", .owner = "me", .expires = "2026-01-31"}};
  r.coverage = {4, 3, 2, 4};
  r.controls = {10, 3, 1, 0, {{Law::kCancel, 3, 1, 192, {{"reversed", 100}}}}};
  return r;
}

}  // namespace bic::report
