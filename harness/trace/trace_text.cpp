#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/trace/trace_report.h"

namespace bic {
namespace {

std::string name_of(const TracedTensor& t) {
  const std::string repeat = t.invocation > 0 ? fmt::format("#{}", t.invocation) : "";
  return fmt::format("{}: {}{}", t.section, t.name, repeat);
}

std::string number(double x) { return x == 0 ? "0" : fmt::format("{:.3g}", x); }

std::string line(const TensorPair& pair, const TracedTensor& t) {
  const Distance d = pair.distance.value_or(Distance{});
  const char* verdict = !pair.same_shape ? "shape" : pair.equal ? "equal" : "DIFFERS";
  return fmt::format("{:<8} {:>9} {:>9} {:>9} {:>9} {:>9}  {} {} {}\n",
                     verdict,
                     number(d.max_abs),
                     number(d.mean_abs),
                     number(d.rmse),
                     number(d.relative_l2),
                     number(d.output_abs_max),
                     name_of(t),
                     t.dtype,
                     shape_text(t.shape));
}

/// `a` is the batch's, `b` that of the sample alone.
std::string text_of(const Difference& d) {
  std::string text = fmt::format("{} of {} elements differ, first [{}] {} alone, {} in the batch",
                                 d.differing,
                                 d.total,
                                 d.first,
                                 d.bits_b,
                                 d.bits_a);
  if (d.ulps) text += fmt::format(" ({} ulp)", *d.ulps);
  return text;
}

std::string kernel_text(bool own) { return own ? "the backend's own kernel" : "stock's kernel"; }

/// What only one of the runs called, cut where it is long.
std::string other_ops(const std::vector<std::string>& overloads) {
  constexpr std::size_t kMost = 6;
  const std::vector<std::string> first(
      overloads.begin(),
      overloads.begin() + static_cast<std::ptrdiff_t>(std::min(overloads.size(), kMost)));
  if (overloads.empty()) return "nothing";
  const std::size_t more = overloads.size() - first.size();
  return fmt::format("{}", fmt::join(first, " ")) + (more ? fmt::format(" and {} more", more) : "");
}

std::string text_of(const GuiltyOp& g, const TraceSubject& subject) {
  std::string text = fmt::format("  first op that differs: {}\n    by {}\n    alone: {}\n",
                                 to_text(g.batched),
                                 kernel_text(g.own),
                                 to_text(g.alone.call));
  if (g.difference) text += "    " + text_of(*g.difference) + "\n";
  if (!g.only_alone.empty() || !g.only_batched.empty()) {
    text += fmt::format("    before it only the sample alone ran {}; only the batch {}\n",
                        other_ops(g.only_alone),
                        other_ops(g.only_batched));
  }
  if (g.case_string.empty()) return text + "  no op-level case: " + g.no_case + "\n";
  return text +
         fmt::format("  repro: {} '{}'{}\n", subject.repro, g.case_string, subject.repro_flags);
}

std::string text_of(const Divergence& first, const TraceSubject& subject, const TraceResult& r) {
  const TensorPair& pair = r.pairs[first.pair];
  const TracedTensor& t = r.batched.tensors[pair.batched];
  std::string text =
      fmt::format("first divergence: {} {} {}\n", name_of(t), t.dtype, shape_text(t.shape));
  if (pair.difference) text += "  " + text_of(*pair.difference) + "\n";
  if (first.producer) {
    text += fmt::format(
        "  written by {}\n    by {}\n", to_text(*first.producer), kernel_text(first.producer_own));
  } else {
    text += "  written by no op of the pass\n";
  }
  if (first.guilty) return text + text_of(*first.guilty, subject);
  return text + "  no pair of ops before it differs: the ops of the two runs are not the same\n";
}

}  // namespace

std::string trace_text(const TraceSubject& subject, const TraceResult& result) {
  std::string text =
      fmt::format("{} {} {} on {}: request {} alone against position {} of {}, {} of {} tensors\n",
                  subject.choice.model,
                  subject.choice.preset,
                  subject.choice.dtype,
                  subject.backend,
                  result.plan.sample,
                  result.plan.position,
                  result.plan.batch,
                  result.pairs.size(),
                  result.batched.recorded);
  text += fmt::format("{:<8} {:>9} {:>9} {:>9} {:>9} {:>9}  tensor\n",
                      "bits",
                      "max_abs",
                      "mean_abs",
                      "rmse",
                      "rel_l2",
                      "out_max");
  for (const TensorPair& pair : result.pairs) {
    text += line(pair, result.batched.tensors[pair.batched]);
  }
  if (!result.first) return text + "all tensors are equal to the bit\n";
  text += fmt::format("{} of {} tensors differ\n", result.differing(), result.pairs.size());
  return text + text_of(*result.first, subject, result);
}

}  // namespace bic
