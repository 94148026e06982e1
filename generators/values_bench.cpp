// Values a second of one thread, by law and dtype: `normal` and `uniform` in fp32 are to reach 250
// million, laws that place values along a shared axis 100 million.
#include <benchmark/benchmark.h>

#include <vector>

#include "generators/laws.h"

namespace bic {
namespace {

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kColumns = 1024;

FillProblem matmul(DType dtype, Law law) {
  return {
      dtype, law, Seed{7}, {{"x", {1, kColumns}, {1}, false}, {"w", {kColumns, kRows}, {0}, true}}};
}

void fill_weight(benchmark::State& state, DType dtype, Law law) {
  const FillProblem problem = matmul(dtype, law);
  std::vector<std::byte> block(static_cast<std::size_t>(kRows * kColumns * size_of(dtype)));
  for (auto _ : state) {
    fill(problem, 1, SampleId{}, block);
    benchmark::DoNotOptimize(block.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kColumns);
}

/// The leader of the problem, as rows of activations.
void fill_activations(benchmark::State& state, DType dtype, Law law) {
  FillProblem problem = matmul(dtype, law);
  problem.operands[0].shape = {kRows, kColumns};
  std::vector<std::byte> block(static_cast<std::size_t>(kRows * kColumns * size_of(dtype)));
  for (auto _ : state) {
    fill(problem, 0, SampleId{1}, block);
    benchmark::DoNotOptimize(block.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kColumns);
}

const int kRegistered = [] {
  for (const DType dtype : kAllDTypes) {
    for (const Law law : {Law::kNormal,
                          Law::kUniform,
                          Law::kCancel,
                          Law::kWide,
                          Law::kOutlier,
                          Law::kRamp,
                          Law::kMasks,
                          Law::kIntegers,
                          Law::kSpecial}) {
      const std::string what = std::string(name(dtype)) + "/" + std::string(name(law));
      benchmark::RegisterBenchmark(("activations/" + what).c_str(), fill_activations, dtype, law);
      benchmark::RegisterBenchmark(("weight/" + what).c_str(), fill_weight, dtype, law);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace bic
