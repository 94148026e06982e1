#include "adapters/libtorch/lifted_manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "adapters/libtorch/declared_problem.h"
#include "adapters/libtorch/stock_arithmetic.h"

namespace bic::libtorch {
namespace {

using protocol::ManifestEntry;

constexpr std::int64_t kDim = 3, kLargestBatch = 3;
constexpr Storage kStorages[] = {
    Storage::kRowMajor, Storage::kTransposed, Storage::kOuterSwapped, Storage::kExpanded};

/// Trials that ran, and those of them that reached the plug-in.
struct Reach {
  int ran = 0, reached = 0;
  bool whole() const { return reached == ran; }
};

/// How an op is served, in one dtype or several.
struct Coverage {
  std::map<Form, Reach> forms;
  std::map<std::string, Reach> variants;  ///< in form functional
  std::set<std::string> labels;

  void add(const Coverage& other) {
    for (const auto& [form, r] : other.forms) forms[form] = sum(forms[form], r);
    for (const auto& [name, r] : other.variants) variants[name] = sum(variants[name], r);
    labels.insert(other.labels.begin(), other.labels.end());
  }
  static Reach sum(const Reach& a, const Reach& b) {
    return {a.ran + b.ran, a.reached + b.reached};
  }
};

/// The smallest extents that the op takes, above 1 where it can.
Dims small_dims(const OpSpec& op, const Variant& variant) {
  Dims dims;
  for (const DimRange& range : op.dims) {
    if (mentions(variant, range.name)) {
      dims[range.name] = std::clamp(kDim, range.lo, std::max(range.lo, range.hi));
    }
  }
  return dims;
}

class Look {
 public:
  Look(LibTorchBackend& backend, const OpSpec& op, DType dtype) : backend_(backend) {
    for (const Variant& v : op.variants) look(op, v, dtype);
  }
  const Coverage& coverage() const { return coverage_; }

 private:
  void look(const OpSpec& op, const Variant& variant, DType dtype) {
    const auto problem =
        declared_problem(op, variant, dtype, small_dims(op, variant), kLargestBatch);
    std::int64_t elements = kLargestBatch;
    for (std::int64_t e : block_shape(variant.output, problem.dims)) elements *= e;
    pool_.assign(static_cast<std::size_t>(problem.pool_bytes), std::byte{0});
    output_.resize(static_cast<std::size_t>(elements) * sizeof(double));
    backend_.load(problem, pool_);
    for (const auto& [form_name, text] : problem.calls) {
      const Form form = *parse_form(form_name);
      const Reach r = reach(form);
      coverage_.forms[form] = Coverage::sum(coverage_.forms[form], r);
      if (form == Form::kFunctional) coverage_.variants[variant.name] = r;
    }
  }

  Reach reach(Form form) {
    Reach r;
    const std::vector<std::int64_t> batches =
        form == Form::kVector ? std::vector<std::int64_t>{1} : std::vector{1L, kLargestBatch};
    for (const Storage storage : kStorages) {
      for (const std::int64_t batch : batches) {
        protocol::TrialMessage trial{.slots = {}, .trial = {}};
        trial.slots.assign(static_cast<std::size_t>(batch), 0);
        trial.trial.batch = batch;
        trial.trial.storage = storage;
        trial.trial.form = form;
        note(backend_.run(trial, output_), r);
      }
    }
    return r;
  }

  void note(const protocol::TrialReply& reply, Reach& r) {
    if (reply.outcome != protocol::Outcome::kRan) return;
    std::set<std::string> labels;
    for (const std::string& label : reply.witness.reached) {
      if (label.starts_with("plugin::")) labels.insert(label);
    }
    ++r.ran;
    if (!labels.empty()) ++r.reached;
    coverage_.labels.insert(labels.begin(), labels.end());
  }

  LibTorchBackend& backend_;
  std::vector<std::byte> pool_, output_;
  Coverage coverage_;
};

/// Of an op made of the plug-in's: stock's way to put it together, from the plug-in's sums.
Arithmetic composed(Arithmetic stock, DType dtype, const std::vector<ManifestEntry>& claims) {
  for (const ManifestEntry& claim : claims) {
    const auto at = claim.arithmetic.find(dtype);
    if (at == claim.arithmetic.end()) continue;
    if (at->second.accumulator == DType::kFloat32) stock.accumulator = DType::kFloat32;
    stock.elementary_ulps = std::max(stock.elementary_ulps, at->second.elementary_ulps);
    stock.flushes_subnormals |= at->second.flushes_subnormals;
  }
  stock.source += "; made of the plug-in's kernels";
  return stock;
}

std::string reason_of(const Coverage& coverage) {
  std::vector<std::string> whole;
  for (const auto& [name, r] : coverage.variants) {
    if (r.reached > 0 && r.whole()) whole.push_back(name.empty() ? "default" : name);
  }
  const Reach& r = coverage.forms.at(Form::kFunctional);
  return fmt::format("{} serves {} of {} ways to call it (variants always: {}), stock the others",
                     fmt::join(coverage.labels, ", "),
                     r.reached,
                     r.ran,
                     whole.empty() ? "none" : fmt::to_string(fmt::join(whole, ", ")));
}

/// By whom its forms are served decides what the entry owns and lacks.
void state_coverage(const Coverage& coverage, ManifestEntry& e) {
  const bool whole = coverage.forms.at(Form::kFunctional).whole();
  e.own.clear();
  e.lacks.clear();
  if (whole) e.own.assign(coverage.labels.begin(), coverage.labels.end());
  e.stock_reason = whole ? "" : reason_of(coverage);
  for (const Form form : {Form::kOut, Form::kInplace, Form::kChunk, Form::kVector}) {
    const auto at = coverage.forms.find(form);
    const Reach r = at == coverage.forms.end() ? Reach{} : at->second;
    if (r.reached == 0 || (whole && !r.whole())) e.lacks.push_back(form);
  }
}

std::set<DType> dtypes_of(const std::vector<ManifestEntry>& claims) {
  std::set<DType> all;
  for (const ManifestEntry& c : claims) all.insert(c.dtypes.begin(), c.dtypes.end());
  return all;
}

}  // namespace

std::vector<ManifestEntry> lifted_manifest(LibTorchBackend& backend,
                                           const std::vector<ManifestEntry>& claims) {
  std::vector<ManifestEntry> all;
  for (ManifestEntry& e : stock_manifest()) {
    const OpSpec& op = *find_op(e.op);
    const auto claim = std::ranges::find(claims, e.op, &ManifestEntry::op);
    Coverage coverage;
    std::vector<DType> dtypes;
    std::map<DType, Arithmetic> arithmetic;
    for (const DType dtype : e.dtypes) {
      if (!dtypes_of(claims).contains(dtype)) continue;
      const Coverage one = Look(backend, op, dtype).coverage();
      if (one.forms.at(Form::kFunctional).reached == 0) continue;
      coverage.add(one);
      dtypes.push_back(dtype);
      arithmetic[dtype] = claim != claims.end() && claim->arithmetic.contains(dtype)
                              ? claim->arithmetic.at(dtype)
                              : composed(e.arithmetic.at(dtype), dtype, claims);
    }
    if (dtypes.empty()) continue;
    e.dtypes = std::move(dtypes);
    e.arithmetic = std::move(arithmetic);
    state_coverage(coverage, e);
    all.push_back(std::move(e));
  }
  return all;
}

}  // namespace bic::libtorch
