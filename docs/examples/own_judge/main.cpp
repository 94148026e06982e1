// Asks of two ways to sum rows whether a row's bits depend on how many rows there are, with
// bi-conform's inputs and its comparison, without its program.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "generators/laws.h"
#include "harness/judge/compare.h"

namespace {

constexpr std::size_t kLength = 1000;

/// Sums a row in `parts` sums, which are added up at the end.
float sum(std::span<const float> row, std::size_t parts) {
  std::vector<float> sums(parts);
  for (std::size_t i = 0; i < row.size(); ++i) sums[i % parts] += row[i];
  float total = 0;
  for (const float part : sums) total += part;
  return total;
}

/// Rows as the law makes them: what a row holds does not depend on its place. Under `cancel`
/// another order of the sum shows in nearly every row; under `normal` in some.
std::vector<float> rows(std::size_t count) {
  const bic::FillProblem problem{.dtype = bic::DType::kFloat32,
                                 .law = bic::Law::kCancel,
                                 .seed = bic::Seed{7},
                                 .operands = {{"x", {kLength}, {0}}}};
  std::vector<float> x(count * kLength);
  for (std::size_t i = 0; i < count; ++i) {
    bic::fill(problem,
              0,
              bic::SampleId{static_cast<std::uint32_t>(i)},
              std::as_writable_bytes(std::span(x).subspan(i * kLength, kLength)));
  }
  return x;
}

/// The sums of all rows; a kernel that shares its cores among rows uses fewer parts for more rows.
std::vector<float> sums(std::size_t count, bool invariant) {
  const std::vector<float> x = rows(count);
  std::vector<float> y;
  for (std::size_t i = 0; i < count; ++i) {
    y.push_back(sum(std::span(x).subspan(i * kLength, kLength), invariant || count > 4 ? 4 : 16));
  }
  return y;
}

void judge(const char* name, bool invariant) {
  const std::vector<float> alone = sums(1, invariant), batch = sums(8, invariant);
  const auto difference = bic::compare_bytes(bic::DType::kFloat32,
                                             std::as_bytes(std::span(alone)),
                                             std::as_bytes(std::span(batch).first(1)));
  std::printf(
      "%s: %s\n",
      name,
      difference
          ? (difference->bits_a + " alone, " + difference->bits_b + " in a batch of 8").c_str()
          : "equal bits");
}

}  // namespace

int main() {
  judge("parts by batch size", false);
  judge("four parts always", true);
}
