#include "results_schema/render/html/trace_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "results_schema/render/shell_quoted.h"

namespace bic::report::page {
namespace {

constexpr double kLeft = 60, kRight = 970, kTop = 30, kBase = 250;
constexpr double kFloor = 22;       ///< from the base line to the least distance
constexpr double kRoomOfName = 72;  ///< between the names of two sections

/// The exponents of 10 between which distances are drawn.
struct Decades {
  double low = -8, high = 0;
  double y(double distance) const {
    if (!std::isfinite(distance)) return kTop;
    const double e = distance > 0 ? std::log10(distance) : low;
    const double share = (std::clamp(e, low, high) - low) / (high - low);
    return kBase - kFloor - share * (kBase - kFloor - kTop);
  }
};

/// Of a tensor that differs: 1 where it cannot be had, as with another shape.
double distance_of(const nlohmann::json& tensor) {
  const auto distance = tensor.find("distance");
  if (distance == tensor.end()) return 1;
  return std::strtod(distance->at("relative_l2").get<std::string>().c_str(), nullptr);
}

Decades decades_of(const nlohmann::json& tensors) {
  std::optional<double> least, most;
  for (const auto& t : tensors) {
    const double d = t.at("equal").get<bool>() ? 0 : distance_of(t);
    if (!(d > 0) || !std::isfinite(d)) continue;
    least = std::min(least.value_or(d), d);
    most = std::max(most.value_or(d), d);
  }
  Decades range;
  if (!least) return range;
  range.low = std::floor(std::log10(*least));
  range.high = std::max(range.low + 1, std::ceil(std::log10(*most)));
  return range;
}

class Chart {
 public:
  explicit Chart(const nlohmann::json& trace)
      : tensors_(trace.at("tensors")), range_(decades_of(tensors_)) {}

  void add_to(data& view) const {
    std::string equal, differs;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const auto& t = tensors_[i];
      const bool same = t.at("equal").get<bool>();
      const double top = same ? kBase - 3 : range_.y(distance_of(t));
      (same ? equal : differs) +=
          fmt::format("M{} {}V{}", length_text(x(i)), kBase, length_text(top));
    }
    view.set("equal", equal);
    view.set("differs", differs);
    view.set("grid", grid());
    view.set("sections", sections());
  }

  double x(std::size_t tensor) const {
    return kLeft + (kRight - kLeft) * (static_cast<double>(tensor) + 0.5) /
                       static_cast<double>(tensors_.size());
  }

 private:
  list grid() const {
    list lines{
        object{{"y", length_text(kBase)}, {"ty", length_text(kBase + 4)}, {"label", "equal"}}};
    const double step = std::max(1.0, std::ceil((range_.high - range_.low) / 8));
    for (double e = range_.low; e <= range_.high; e += step) {
      const double y = range_.y(std::pow(10, e));
      lines.push_back(object{{"y", length_text(y)},
                             {"ty", length_text(y + 4)},
                             {"label", fmt::format("1e{:.0f}", e)}});
    }
    return lines;
  }

  /// Where a part of the pass begins; a name is left out where it has no room.
  list sections() const {
    list marks;
    std::string last;
    double free_from = 0;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const auto section = tensors_[i].at("section").get<std::string>();
      if (section == last && i > 0) continue;
      last = section;
      const bool fits = x(i) >= free_from;
      if (fits) free_from = x(i) + kRoomOfName;
      marks.push_back(object{{"x", length_text(x(i))},
                             {"tx", length_text(x(i))},
                             {"ty", length_text(kBase + 18)},
                             {"name", fits ? section : ""}});
    }
    return marks;
  }

  const nlohmann::json& tensors_;
  Decades range_;
};

std::string tensor_text(const nlohmann::json& t) {
  return fmt::format("{}: {} {}",
                     t.at("section").get<std::string>(),
                     t.at("name").get<std::string>(),
                     t.at("dtype").get<std::string>());
}

std::string outcome_text(const nlohmann::json& trace) {
  const auto& tensors = trace.at("tensors");
  const auto first = trace.find("first_divergence");
  if (first == trace.end()) {
    return fmt::format("All of {} tensors are equal to the bit.", tensors.size());
  }
  return fmt::format("{} of {} tensors differ; the first is {}.",
                     trace.at("differing").get<std::int64_t>(),
                     tensors.size(),
                     tensor_text(tensors.at(first->at("tensor").get<std::size_t>())));
}

/// The first op that gave the sample other bits; empty where the trace has none.
std::string culprit_text(const nlohmann::json& divergence, const std::string& backend) {
  const auto op = divergence.find("op");
  if (op == divergence.end()) return "";
  std::string text = fmt::format("first op that differs: {}, {} kernel",
                                 op->at("batched").at("call").at("overload").get<std::string>(),
                                 op->at("own").get<bool>() ? "the backend's own" : "stock's");
  if (const auto d = op->find("difference"); d != op->end()) {
    text += fmt::format("\n{} of {} elements differ, first [{}] {} alone, {} in the batch",
                        d->at("differing").get<std::int64_t>(),
                        d->at("total").get<std::int64_t>(),
                        d->at("first_index").get<std::int64_t>(),
                        d->at("bits_alone").get<std::string>(),
                        d->at("bits_batched").get<std::string>());
  }
  if (op->contains("case")) {
    text += fmt::format("\nrepro: bi-conform repro '{}' --backend {}",
                        op->at("case").get<std::string>(),
                        shell_quoted(backend));
  }
  return text;
}

}  // namespace

void add_trace(const nlohmann::json& trace, data& page) {
  data view;
  const Chart chart(trace);
  chart.add_to(view);
  view.set("what",
           fmt::format("{} {} {} on {}: one request alone, and at position {} of {}",
                       trace.at("model").get<std::string>(),
                       trace.at("preset").get<std::string>(),
                       trace.at("dtype").get<std::string>(),
                       trace.at("backend").get<std::string>(),
                       trace.at("position").get<std::int64_t>(),
                       trace.at("requests").size()));
  view.set("outcome", outcome_text(trace));
  view.set("first", false);
  view.set("culprit", false);
  if (const auto first = trace.find("first_divergence"); first != trace.end()) {
    const double x = chart.x(first->at("tensor").get<std::size_t>());
    const bool near_the_end = x > (kLeft + kRight) / 2;
    view.set("first",
             object{{"x", length_text(x)},
                    {"tx", length_text(near_the_end ? x - 4 : x + 4)},
                    {"side", near_the_end ? "left" : "right"}});
    if (const std::string text = culprit_text(*first, trace.at("backend")); !text.empty())
      view.set("culprit", text);
  }
  page.set("trace", view);
}

}  // namespace bic::report::page
