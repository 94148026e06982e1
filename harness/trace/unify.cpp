#include "harness/trace/unify.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "results_schema/axis.h"

namespace bic {
namespace {

/// An axis and what it is to come to.
struct Equation {
  std::string axis;
  std::int64_t extent;
};

const std::string kBatch = "B";

/// The names in an axis' text.
std::set<std::string> names_in(const std::string& axis) {
  std::set<std::string> names;
  std::string name;
  for (const char c : axis + '+') {
    const bool letter = (c >= 'a' && c <= 'z') || c == '_' || c == 'B';
    if (letter) {
      name += c;
    } else if (!name.empty()) {
      names.insert(std::exchange(name, ""));
    }
  }
  return names;
}

class Solver {
 public:
  explicit Solver(std::vector<Equation> equations) : equations_(std::move(equations)) {}

  std::optional<Extents> solve() {
    while (!equations_.empty()) {
      const std::size_t before = equations_.size();
      std::erase_if(equations_, [this](const Equation& e) { return take(e); });
      if (failed_ || equations_.size() == before) return {};
    }
    Extents found{known_, 1};
    if (const auto batch = known_.find(kBatch); batch != known_.end()) found.batch = batch->second;
    found.dims.erase(kBatch);
    return found;
  }

 private:
  std::int64_t value(const std::string& axis, const std::string& name, std::int64_t of) const {
    Dims dims = known_;
    if (!name.empty()) dims[name] = of;
    const auto batch = dims.find(kBatch);
    return axis_extent(axis, dims, batch == dims.end() ? 1 : batch->second);
  }

  /// True when the equation is used up.
  bool take(const Equation& e) {
    std::set<std::string> unknown = names_in(e.axis);
    std::erase_if(unknown, [this](const std::string& n) { return known_.contains(n); });
    if (unknown.size() > 1) return false;
    if (unknown.empty()) {
      failed_ = failed_ || value(e.axis, "", 0) != e.extent;
      return true;
    }
    // The text is linear in each name; at 2 and 3 none is below 1 that is not at larger ones.
    const std::string& name = *unknown.begin();
    const std::int64_t at_2 = value(e.axis, name, 2), step = value(e.axis, name, 3) - at_2;
    const std::int64_t found = step == 0 ? 0 : (e.extent - at_2) / step + 2;
    failed_ = failed_ || found < 1 || value(e.axis, name, found) != e.extent;
    known_[name] = std::max<std::int64_t>(found, 1);
    return true;
  }

  std::vector<Equation> equations_;
  Dims known_;
  bool failed_ = false;
};

}  // namespace

std::optional<Extents> unify(const std::vector<TensorSpec>& tensors,
                             const std::vector<std::vector<std::int64_t>>& shapes) {
  if (tensors.size() != shapes.size()) return {};
  std::vector<Equation> equations;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& axes = tensors[i].axes;
    if (axes.size() != shapes[i].size()) return {};
    for (std::size_t a = 0; a < axes.size(); ++a) equations.push_back({axes[a], shapes[i][a]});
  }
  return Solver(std::move(equations)).solve();
}

}  // namespace bic
