#include "harness/reference/model_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <mutex>
#include <utility>

#include "adapters/protocol/usable_cores.h"
#include "harness/reference/stock_evaluator.h"
#include "results_schema/error.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr double kMostTinyError = 1e-6;  // of fp32
constexpr std::size_t kKept = 256;       // outputs: those of all problems that are at work
constexpr std::chrono::minutes kPatience{20};

/// The orders in which a model is evaluated in its own dtype, as its operator calls them.
constexpr std::array<std::pair<Order, const char*>, 4> kOrders{{{Order::kSequential, "stored"},
                                                                {Order::kReversed, "reversed"},
                                                                {Order::kHalves, "halves"},
                                                                {Order::kLanes16, "lanes16"}}};

using Output = std::shared_ptr<const std::vector<double>>;

std::string key_of(const Operands& operands) {
  std::string key = fmt::format("{} {}", operands.variant, name(operands.dtype));
  for (const auto& values : operands.values) key += sha256_hex(std::as_bytes(values));
  return key;
}

double largest_error(const std::vector<double>& y, const std::vector<double>& oracle) {
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::fabs(y[i] - oracle[i]));
  return worst;
}

WorkerLaunch patient(WorkerLaunch stock) {
  stock.timeout = kPatience;
  return stock;
}

class ModelReference final : public Reference {
 public:
  ModelReference(const OpSpec& op, const WorkerLaunch& stock)
      : op_(op.name),
        variants_(op.variants),
        small_(stock, {.blame = "--suite " + op.suite}),
        large_(patient(stock),
               {.blame = "--suite " + op.suite, .processes = 1, .threads = usable_cores()}) {}

  void wide(const Operands& operands,
            DType,
            std::span<const std::int64_t> elements,
            std::span<Wide> y) const override {
    const Output all = oracle(operands);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = {(*all)[index(elements[i])], 0};
  }

  void bound(const Operands& operands,
             DType subject,
             const Arithmetic&,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const override {
    const Output exact = oracle(operands);
    double worst = 0;
    for (const auto& [order, word] : kOrders) {
      worst = std::max(worst, largest_error(*evaluation(operands, word), *exact));
    }
    const bool tiny = !variant_of(operands).on_request && operands.dtype == DType::kFloat32;
    const double error = tiny ? std::min(2 * worst, kMostTinyError) : 2 * worst;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      const double size = std::fabs((*exact)[index(elements[i])]);
      bound[i] = error + std::ldexp(size, -precision(subject));
    }
  }

  void control(const Operands& operands,
               DType,
               Order order,
               std::span<const std::int64_t> elements,
               std::span<double> y) const override {
    const auto at = std::ranges::find(kOrders, order, [](const auto& o) { return o.first; });
    if (at == kOrders.end()) throw HarnessError(op_ + ": no control of that order");
    const Output all = evaluation(operands, at->second);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (*all)[index(elements[i])];
  }

 private:
  static std::size_t index(std::int64_t element) { return static_cast<std::size_t>(element); }

  const Variant& variant_of(const Operands& operands) const {
    const auto at = std::ranges::find(variants_, operands.variant, &Variant::name);
    if (at != variants_.end()) return *at;
    throw HarnessError(fmt::format("{}: no variant '{}'", op_, operands.variant));
  }

  static std::string in_fp64(const Operands& operands) {
    return fmt::format("weights={}", name(operands.dtype));
  }
  static std::string in_order(const char* word) { return fmt::format("order=\"{}\"", word); }

  Output oracle(const Operands& operands) const {
    return output(operands, DType::kFloat64, in_fp64(operands));
  }

  Output evaluation(const Operands& operands, const char* order) const {
    return output(operands, operands.dtype, in_order(order));
  }

  /// Of the variant's call with more arguments: a kept one, or a new one.
  Output output(const Operands& operands, DType dtype, const std::string& arguments) const {
    const std::string key = key_of(operands);
    if (Output kept = find(key + arguments)) return kept;
    if (!variant_of(operands).on_request) {
      return keep(key + arguments, evaluate(operands, dtype, arguments));
    }
    keep(key + in_fp64(operands), evaluate(operands, DType::kFloat64, in_fp64(operands)));
    for (const auto& [order, word] : kOrders) {
      keep(key + in_order(word), evaluate(operands, operands.dtype, in_order(word)));
    }
    large_.release();
    return find(key + arguments);
  }

  std::vector<double> evaluate(const Operands& operands,
                               DType dtype,
                               const std::string& arguments) const {
    const Variant& v = variant_of(operands);
    const StockCall call{.op = op_,
                         .what = v.name,
                         .text = v.call.substr(0, v.call.rfind(')')) + ", " + arguments + ")",
                         .dtype = dtype,
                         .dims = operands.dims,
                         .attributes = operands.attributes};
    return (v.on_request ? large_ : small_).evaluate(call, v, operands.values);
  }

  Output find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(kept_, key, [](const auto& kept) { return kept.first; });
    return at == kept_.end() ? nullptr : at->second;
  }

  Output keep(const std::string& key, std::vector<double> values) const {
    const auto output = std::make_shared<const std::vector<double>>(std::move(values));
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(key, output);
    if (kept_.size() > kKept) kept_.pop_front();
    return output;
  }

  std::string op_;
  std::vector<Variant> variants_;
  mutable StockEvaluator small_, large_;
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<std::string, Output>> kept_;
};

}  // namespace

std::shared_ptr<const Reference> model_reference(const OpSpec& op, const WorkerLaunch& stock) {
  return std::make_shared<ModelReference>(op, stock);
}

}  // namespace bic
