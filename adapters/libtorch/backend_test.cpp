#include "adapters/libtorch/backend.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "adapters/libtorch/stock_arithmetic.h"
#include "results_schema/error.h"
#include "suites/ops/op_spec.h"

namespace bic::libtorch {
namespace {

using protocol::Outcome;
using protocol::TrialMessage;
using protocol::TrialReply;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kK = 5, kN = 3, kSamples = 4;

/// mm in fp32: x [B, k], w [k, n]; the pool holds w, then kSamples rows of x.
struct MmProblem {
  protocol::ProblemMessage message;
  std::vector<float> pool;

  MmProblem() {
    message.op = "mm";
    message.dims = {{"k", kK}, {"n", kN}};
    message.calls = {{"functional", "(y) = aten::mm.default(x, w)"},
                     {"out", "(y) = aten::mm.out(x, w, out=y)"},
                     {"inplace", "(y) = aten::gelu_.default(x)"}};
    message.inputs = {{"x", {"B", "k"}, "fp32", kK * kN * 4, kK * 4}, {"w", {"k", "n"}}};
    message.output = {"y", {"B", "n"}};
    message.reduced = {"k"};
    for (int i = 0; i < kK * kN + kSamples * kK; ++i) pool.push_back(static_cast<float>(i % 7 - 3));
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(pool)); }

  at::Tensor w() const { return at::tensor(pool).slice(0, 0, kK * kN).view({kK, kN}); }
  at::Tensor x(const std::vector<std::int64_t>& slots) const {
    return at::tensor(pool)
        .slice(0, kK * kN)
        .view({kSamples, kK})
        .index_select(0, at::tensor(slots));
  }
};

TrialMessage trial_of(std::vector<std::uint32_t> slots, Form form = Form::kFunctional) {
  TrialMessage trial;
  trial.slots = std::move(slots);
  trial.trial.form = form;
  trial.trial.batch = static_cast<std::int64_t>(trial.slots.size());
  return trial;
}

/// What a test does instead of the honest call.
class Broken : public Interposer {
 public:
  using Call = std::function<at::Tensor(const InterposedCall&)>;
  explicit Broken(Call call) : call_(std::move(call)) {}
  at::Tensor call(const InterposedCall& call) override { return call_(call); }

 private:
  Call call_;
};

class Backend : public testing::Test {
 protected:
  TrialReply run(const TrialMessage& trial, Broken::Call call = nullptr) {
    Subject subject{"libtorch", stock_manifest(), nullptr, nullptr};
    if (call) subject.interposer = std::make_unique<Broken>(std::move(call));
    LibTorchBackend backend(std::move(subject), nullptr);
    backend.load(problem_.message, problem_.bytes());
    output_.assign(64, -1);
    return backend.run(trial, std::as_writable_bytes(std::span(output_)));
  }

  void expect_output(const at::Tensor& expected) {
    const at::Tensor dense = expected.contiguous();
    EXPECT_EQ(std::memcmp(output_.data(), dense.const_data_ptr(), dense.nbytes()), 0) << dense;
  }

  MmProblem problem_;
  std::vector<float> output_;
};

TEST_F(Backend, RunsTheCallOnTheGatheredSamples) {
  const TrialReply reply = run(trial_of({2, 0, 2}));
  EXPECT_EQ(reply.outcome, Outcome::kRan) << reply.message;
  EXPECT_EQ(reply.dtype, "fp32");
  EXPECT_THAT(reply.shape, ElementsAre(3, kN));
  EXPECT_EQ(reply.unwritten, 0);
  EXPECT_FALSE(reply.input_changed);
  EXPECT_FALSE(reply.out_of_bounds);
  EXPECT_FALSE(reply.witness.gave_output);
  EXPECT_THAT(reply.witness.reached, Contains("aten::mm"));
  EXPECT_THAT(reply.witness.shapes, ElementsAre(ElementsAre(3, kK), ElementsAre(kK, kN)));
  expect_output(at::mm(problem_.x({2, 0, 2}), problem_.w()));
  EXPECT_EQ(reply.witness.input_digest, run(trial_of({2, 0, 2})).witness.input_digest);
  EXPECT_NE(reply.witness.input_digest, run(trial_of({0, 2, 2})).witness.input_digest);
}

TEST_F(Backend, LaysInputsOutAsTheTrialSaysAndReportsWhatTheOpSaw) {
  TrialMessage trial = trial_of({0, 1});
  trial.trial.offset = 3;
  trial.trial.row_gap = 2;
  const TrialReply reply = run(trial);
  EXPECT_THAT(reply.witness.address_mod_64, ElementsAre(12, 12));
  EXPECT_THAT(reply.witness.strides, ElementsAre(ElementsAre(kK + 2, 1), ElementsAre(kN + 2, 1)));
  EXPECT_FALSE(reply.input_changed);
  expect_output(at::mm(problem_.x({0, 1}), problem_.w()));
}

TEST_F(Backend, WritesToTheOutputGiven) {
  TrialMessage trial = trial_of({1, 3}, Form::kOut);
  trial.trial.offset = 1;
  trial.trial.row_gap = 3;
  const TrialReply reply = run(trial);
  EXPECT_TRUE(reply.witness.gave_output);
  EXPECT_THAT(reply.witness.reached, Contains("aten::mm.out"));
  EXPECT_EQ(reply.witness.form, "out");
  EXPECT_FALSE(reply.out_of_bounds);
  expect_output(at::mm(problem_.x({1, 3}), problem_.w()));
}

TEST_F(Backend, InPlaceOperandIsExemptFromInputChanged) {
  const TrialReply reply = run(trial_of({1, 3}, Form::kInplace));
  EXPECT_FALSE(reply.input_changed);
  EXPECT_TRUE(reply.witness.gave_output);
  expect_output(at::gelu(problem_.x({1, 3})));
}

TEST_F(Backend, SeesAChangedInput) {
  const TrialReply reply = run(trial_of({0, 1}), [](const InterposedCall& c) {
    at::Tensor y = c.honest(c.tensors);
    c.tensors.at("w").data_ptr<float>()[kK * kN - 1] += 1;
    return y;
  });
  EXPECT_TRUE(reply.input_changed);
}

TEST_F(Backend, KeepsWeightsInPlaceUntilSomebodyChangesThem) {
  std::vector<const void*> weights;
  std::vector<float> first_elements;
  Subject subject{"libtorch", stock_manifest(), nullptr, nullptr};
  subject.interposer = std::make_unique<Broken>([&](const InterposedCall& call) {
    at::Tensor w = call.tensors.at("w");
    weights.push_back(w.const_data_ptr());
    first_elements.push_back(w[0][0].item<float>());
    if (weights.size() == 2) w[0][0] = 77;
    return call.honest(call.tensors);
  });
  LibTorchBackend backend(std::move(subject), nullptr);
  backend.load(problem_.message, problem_.bytes());
  output_.assign(64, -1);
  std::vector<bool> changed;
  for (int i = 0; i < 3; ++i) {
    const auto reply = backend.run(trial_of({1, 3}), std::as_writable_bytes(std::span(output_)));
    changed.push_back(reply.input_changed);
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_THAT(changed, ElementsAre(false, true, false));
  EXPECT_EQ(first_elements[2], first_elements[0]);
}

TEST_F(Backend, SeesAWriteBetweenTheRowsOfAnInput) {
  TrialMessage trial = trial_of({0, 1});
  trial.trial.row_gap = 2;
  const TrialReply reply = run(trial, [](const InterposedCall& c) {
    c.tensors.at("x").data_ptr<float>()[kK] = 0;
    return c.honest(c.tensors);
  });
  EXPECT_TRUE(reply.input_changed);
}

TEST_F(Backend, SeesAWriteBetweenTheRowsOfTheOutputGiven) {
  TrialMessage trial = trial_of({0, 1}, Form::kOut);
  trial.trial.row_gap = 2;
  const TrialReply reply = run(trial, [](const InterposedCall& c) {
    c.tensors.at("y").data_ptr<float>()[kN] = 0;
    return c.honest(c.tensors);
  });
  EXPECT_TRUE(reply.out_of_bounds);
}

TEST_F(Backend, SeesAWriteBehindAFreedWorkspace) {
  const TrialReply reply = run(trial_of({0}), [](const InterposedCall& c) {
    at::empty({8}, at::kFloat).data_ptr<float>()[8] = 0;
    return c.honest(c.tensors);
  });
  EXPECT_TRUE(reply.out_of_bounds);
}

TEST_F(Backend, CountsElementsThatNobodyWrote) {
  const TrialReply reply = run(trial_of({0, 1}), [](const InterposedCall&) {
    at::Tensor y = at::empty({2, kN});
    y[0].fill_(1);
    return y;
  });
  EXPECT_EQ(reply.unwritten, kN);
}

TEST_F(Backend, OutputGivenAndThenIgnoredIsNotTheOneWritten) {
  const TrialReply reply = run(trial_of({0, 1}, Form::kOut),
                               [](const InterposedCall& c) { return c.honest(c.tensors).clone(); });
  EXPECT_FALSE(reply.witness.gave_output);
}

TEST_F(Backend, TurnsExceptionsIntoOneLine) {
  const TrialReply thrown = run(trial_of({0}), [](const InterposedCall&) -> at::Tensor {
    throw std::runtime_error("first\nsecond");
  });
  EXPECT_EQ(thrown.outcome, Outcome::kException);
  EXPECT_EQ(thrown.message, "first");
  const TrialReply checked = run(trial_of({0}), [](const InterposedCall& c) {
    return at::mm(c.tensors.at("x"), c.tensors.at("x"));
  });
  EXPECT_EQ(checked.outcome, Outcome::kException);
  EXPECT_THAT(checked.message, HasSubstr("cannot be multiplied"));
  EXPECT_EQ(checked.message.find('\n'), std::string::npos);
}

TEST_F(Backend, TurnsNotImplementedIntoARefusal) {
  const TrialReply reply = run(trial_of({0}), [](const InterposedCall& c) {
    return at::softmax(c.tensors.at("x").to(at::kInt), 1);
  });
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.message, HasSubstr("not implemented for"));
}

TEST_F(Backend, ReportsAnotherDtypeAndShapeWithoutWritingPastTheOutput) {
  const TrialReply reply =
      run(trial_of({0}), [](const InterposedCall&) { return at::zeros({1000}, at::kLong); });
  EXPECT_EQ(reply.dtype, "long");
  EXPECT_THAT(reply.shape, ElementsAre(1000));
  EXPECT_EQ(output_[0], -1);
}

TEST_F(Backend, HarnessMistakesAreErrorsNotOutcomes) {
  problem_.message.calls.erase("out");
  EXPECT_THROW(run(trial_of({0}, Form::kOut)), HarnessError);
  problem_.message.calls["functional"] = "(y) = aten::mm.default(x, missing)";
  EXPECT_THROW(run(trial_of({0})), HarnessError);
}

TEST_F(Backend, SetsTheThreadsOfEachTrial) {
  for (int threads : {3, 1, 2}) {
    TrialMessage trial = trial_of({0});
    trial.threads = threads;
    int seen = 0;
    run(trial, [&](const InterposedCall& c) {
      seen = at::get_num_threads();
      return c.honest(c.tensors);
    });
    EXPECT_EQ(seen, threads);
  }
}

TEST_F(Backend, TimedOutputIsTheJudgedOne) {
  run(trial_of({2, 1}));
  const std::vector<float> judged = output_;
  LibTorchBackend backend({"libtorch", {}, nullptr, nullptr}, nullptr);
  backend.load(problem_.message, problem_.bytes());
  output_.assign(64, -1);
  const protocol::TimeReply reply =
      backend.time({trial_of({2, 1}), 7, 3}, std::as_writable_bytes(std::span(output_)));
  EXPECT_EQ(reply.outcome, Outcome::kRan);
  EXPECT_GT(reply.nanoseconds, 0);
  EXPECT_EQ(output_, judged);
}

TEST(Hello, StatesVersionsLibrariesAndEveryOp) {
  LibTorchBackend backend({"libtorch", stock_manifest(), nullptr, nullptr}, nullptr);
  const protocol::Hello hello = backend.hello();
  EXPECT_EQ(hello.backend, "libtorch");
  EXPECT_EQ(hello.device, "cpu");
  EXPECT_THAT(hello.fingerprint.at("torch"), HasSubstr("2.11"));
  EXPECT_EQ(hello.fingerprint.at("torch_git").size(), 40u);
  EXPECT_THAT(hello.libraries, Contains(HasSubstr("libtorch_cpu.so")));
  int runtimes = 0;
  for (const std::string& path : hello.libraries) runtimes += path.find("libgomp") != path.npos;
  EXPECT_EQ(runtimes, 1);
  ASSERT_EQ(hello.manifest.size(), registry().size());
  for (const protocol::ManifestEntry& entry : hello.manifest) {
    EXPECT_THAT(entry.own, IsEmpty()) << entry.op;
    EXPECT_NE(entry.stock_reason, "") << entry.op;
    EXPECT_EQ(entry.arithmetic.size(), entry.dtypes.size()) << entry.op;
  }
}

}  // namespace
}  // namespace bic::libtorch
