#include "harness/trace/model_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "generators/laws.h"
#include "results_schema/error.h"
#include "results_schema/shape.h"
#include "results_schema/vocabulary.h"

namespace bic {
namespace {

using report::ModelAccuracy;
using report::ModelTensor;

constexpr double kHidden = 0x1p100;  // masks add some 1e38
constexpr double kMostActionError = 1e-6;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<double> values_of(const TracedTensor& t) {
  std::vector<double> values(static_cast<std::size_t>(element_count(t.shape)));
  widen(*parse_dtype(t.dtype), t.bytes, values);
  return values;
}

/// Of an element; infinite where it is no number, or on the wrong side of a mask.
double error_of(double y, double exact) {
  if (std::fabs(exact) >= kHidden) {
    return std::fabs(y) >= kHidden && (y < 0) == (exact < 0) ? 0 : kInfinite;
  }
  const double error = std::fabs(y - exact);
  return std::isnan(error) ? kInfinite : error;
}

double largest_error(const std::vector<double>& y, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, error_of(y[i], exact[i]));
  return worst;
}

/// The same tensor in another run.
const TracedTensor& twin(const TracedTensor& t, std::size_t i, const TracedRun& run) {
  const TracedTensor* const other = i < run.tensors.size() ? &run.tensors[i] : nullptr;
  if (other != nullptr && other->name == t.name && other->section == t.section &&
      other->invocation == t.invocation && parse_dtype(other->dtype)) {
    return *other;
  }
  throw HarnessError(fmt::format("tensor '{}' of {} is in one evaluation only", t.name, t.section));
}

/// Largest error that stock has in tensor `i`.
double stock_error(const TracedTensor& t, std::size_t i, std::span<const StockRun> stock) {
  double worst = 0;
  for (const StockRun& run : stock) {
    const TracedTensor &rounded = twin(t, i, run.rounded), &exact = twin(t, i, run.exact);
    if (rounded.shape != exact.shape) {
      throw HarnessError(fmt::format("tensor '{}' has two shapes on stock", t.name));
    }
    worst = std::max(worst, largest_error(values_of(rounded), values_of(exact)));
  }
  if (std::isfinite(worst)) return worst;
  throw HarnessError(fmt::format("tensor '{}' of {} is no number on stock", t.name, t.section));
}

std::int64_t share_ppm(double error, double allowed) {
  constexpr double kMost = 1e15;
  if (error == 0) return 0;
  const double share = error / allowed * 1e6;  // infinite where nothing is allowed
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(share)));
}

/// What stock makes of a tensor, in the model's own dtypes and in fp64.
struct StockTensor {
  const TracedTensor &rounded, &exact;
};

/// The element that uses most of what is allowed; `most` is allowed of all alike.
ModelTensor worst_element(const TracedTensor& t, const StockTensor& stock, double most) {
  ModelTensor worst{.section = t.section, .name = t.name, .invocation = t.invocation};
  worst.error = worst.allowed = fmt::format("{:a}", 0.0);
  const bool fits = t.shape == stock.exact.shape && t.dtype == stock.rounded.dtype;
  const std::vector<double> exact = values_of(stock.exact);
  const std::vector<double> y = fits ? values_of(t) : std::vector<double>();
  const int digits = precision(*parse_dtype(stock.rounded.dtype));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const bool hidden = std::fabs(exact[i]) >= kHidden;
    const double allowed = most + (hidden ? 0 : std::ldexp(std::fabs(exact[i]), -digits));
    const double error = fits ? error_of(y[i], exact[i]) : kInfinite;
    const std::int64_t share = share_ppm(error, allowed);
    if (share <= worst.share_ppm) continue;
    worst.share_ppm = share;
    worst.error = fmt::format("{:a}", error);
    worst.allowed = fmt::format("{:a}", allowed);
  }
  return worst;
}

/// The place of the action before any clip; that of no tensor where there is none.
std::size_t place_of_action(const TracedRun& run) {
  const auto is_action = [](const TracedTensor& t) { return t.name.ends_with(".updated_action"); };
  const auto at = std::find_if(run.tensors.rbegin(), run.tensors.rend(), is_action);
  return static_cast<std::size_t>(run.tensors.rend() - at) - 1;
}

}  // namespace

ModelAccuracy judge_tensors(DType model,
                            const TracedRun& subject,
                            std::span<const StockRun> stock) {
  if (subject.tensors.size() != stock.front().exact.tensors.size() ||
      subject.tensors.size() != stock.front().rounded.tensors.size()) {
    throw HarnessError("a model names other tensors on one backend than on another");
  }
  constexpr std::int64_t kAll = 1'000'000;
  const std::size_t action = place_of_action(subject);
  ModelAccuracy all;
  for (std::size_t i = 0; i < subject.tensors.size(); ++i) {
    const TracedTensor& t = subject.tensors[i];
    if (!parse_dtype(stock.front().rounded.tensors[i].dtype)) continue;  // whole numbers
    double most = 2 * stock_error(t, i, stock);
    if (i == action && model == DType::kFloat32) most = std::min(most, kMostActionError);
    const StockRun& first = stock.front();
    ModelTensor worst =
        worst_element(t, {twin(t, i, first.rounded), twin(t, i, first.exact)}, most);
    ++all.tensors;
    all.beyond += worst.share_ppm > kAll;
    const bool is_first = all.worst.name.empty();
    if (is_first || worst.share_ppm > all.worst.share_ppm) all.worst = std::move(worst);
  }
  if (all.tensors == 0) throw HarnessError("a model named no tensor that could be judged");
  return all;
}

std::string text_of(const ModelAccuracy& a) {
  const ModelTensor& w = a.worst;
  if (a.beyond == 0) {
    return fmt::format("{} tensors, at most {:.1f}% of the bound: {}: {}",
                       a.tensors,
                       static_cast<double>(w.share_ppm) / 1e4,
                       w.section,
                       w.name);
  }
  return fmt::format(
      "{} of {} tensors beyond the bound, most of all {}: {}: off by {:.3g}, {:.3g} "
      "is allowed",
      a.beyond,
      a.tensors,
      w.section,
      w.name,
      std::strtod(w.error.c_str(), nullptr),
      std::strtod(w.allowed.c_str(), nullptr));
}

}  // namespace bic
