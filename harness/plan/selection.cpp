#include "harness/plan/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "harness/files/typed.h"
#include "harness/plan/case_check.h"
#include "harness/plan/suite_parts.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "suites/models/decoder/preset_names.h"

namespace bic {
namespace {

[[noreturn]] void unknown(const std::string& flag,
                          const std::string& what,
                          const std::string& value,
                          const std::vector<std::string>& known) {
  throw UsageError(fmt::format("{}: unknown {} '{}'{} (known: {})",
                               flag,
                               what,
                               value,
                               did_you_mean(value, known),
                               fmt::join(known, ", ")));
}

bool has(const std::vector<std::string>& all, std::string_view name) {
  return std::ranges::find(all, name) != all.end();
}

bool has_model(const std::string& suite) {
  return std::ranges::any_of(registry(), [&](const OpSpec& op) { return op.suite == suite; });
}

/// Known names, each once, in the order of the parts.
void select_suites(const SelectionText& text, Selection& s) {
  for (const std::string& suite : text.suites) {
    const SuitePart* const part = find_suite_part(suite);
    if (part == nullptr) unknown("--suite", "suite", suite, suite_part_names());
    const bool is_there = !part->needs_stock || has_model(suite);
    if (!is_there) {
      throw UsageError(fmt::format(
          "--suite {}: its reference needs stock PyTorch, which is not here (bi-conform --backend "
          "libtorch says why)",
          suite));
    }
  }
  for (const SuitePart& part : suite_parts()) {
    if (has(text.suites, part.name)) s.suites.emplace_back(part.name);
  }
}

/// Whether the op can have problems in the parts that are selected. Whole models have sizes of
/// their own: a run at a user's sizes has those models only that it names.
bool is_in_suites(const OpSpec& op, const SelectionText& text, const Selection& s) {
  if (op.suite.empty()) return true;
  if (!s.suites.empty()) return has(s.suites, op.suite);
  return find_suite_part(op.suite)->by_default && text.shapes.empty() && text.dims.empty();
}

void select_ops(const SelectionText& text, Selection& s) {
  std::vector<std::string> known;
  for (const OpSpec& op : registry()) known.push_back(op.name);
  for (const std::string& op : text.ops) {
    if (find_op(op) != nullptr) continue;
    throw UsageError(fmt::format("--op: {} (known: {})", unknown_op(op), fmt::join(known, ", ")));
  }
  for (const OpSpec& op : registry()) {
    const bool named = text.ops.empty() || has(text.ops, op.name);
    if (named && is_in_suites(op, text, s)) s.ops.push_back(&op);
  }
}

/// Decoders are asked where they are named, or nothing is said of ops, relations and sizes.
void select_decoders(const SelectionText& text, Selection& s) {
  const bool narrow = !text.ops.empty() || !text.relations.empty() || !text.level.empty() ||
                      !text.case_pattern.empty() || !text.dims.empty() || !text.shapes.empty() ||
                      !text.batches.empty();
  s.decoders = s.suites.empty() ? !narrow : has(s.suites, "decoder");
}

/// Of the whole models that are selected.
void select_presets(const SelectionText& text, Selection& s) {
  std::vector<std::string> known;
  for (const OpSpec* op : s.ops) {
    if (op->suite.empty()) continue;
    for (const Variant& v : op->variants) known.push_back(preset_name(v));
  }
  for (const std::string_view preset : decoder::kPresets) {
    if (s.decoders && !has(known, preset)) known.emplace_back(preset);
  }
  if (known.empty() && !text.presets.empty()) {
    throw UsageError(
        fmt::format("--preset: no whole model is selected, which '{}' could be of; add --suite pi0",
                    text.presets[0]));
  }
  for (const std::string& preset : text.presets) {
    if (!has(known, preset)) unknown("--preset", "preset", preset, known);
  }
  s.presets = text.presets;
}

void select_dtypes(const SelectionText& text, Selection& s) {
  std::vector<std::string> known;
  for (DType t : kAllDTypes) known.emplace_back(name(t));
  for (const std::string& dtype : text.dtypes) {
    if (!parse_dtype(dtype)) unknown("--dtype", "dtype", dtype, known);
  }
  for (DType t : kAllDTypes) {
    const bool named = std::ranges::find(text.dtypes, name(t)) != text.dtypes.end();
    if (text.dtypes.empty() || named) s.dtypes.push_back(t);
  }
}

void select_peer(const SelectionText& text, Selection& s) {
  const std::string_view peer = peer_relation().name;
  const bool named = std::ranges::find(text.relations, peer) != text.relations.end();
  if (named && !text.has_peer) {
    throw UsageError("--relation peer compares two backends; name the other one with --against");
  }
  if (text.has_peer && !named && !text.relations.empty()) {
    throw UsageError("--against has nothing to do: name peer among the --relation too");
  }
  if (text.has_peer) s.relations.push_back(&peer_relation());
}

void select_of_device(const SelectionText& text, Selection& s) {
  for (const Relation& r : device_relations()) {
    const bool named = has(text.relations, std::string(r.name));
    if (named && !text.on_device) {
      throw UsageError(
          fmt::format("--relation {} is about kernels on a GPU; add --device cuda", r.name));
    }
    if (text.on_device && (named || text.relations.empty())) s.relations.push_back(&r);
  }
}

void select_relations(const SelectionText& text, Selection& s) {
  std::vector<std::string> known = relation_names();
  known.emplace_back(kAccuracyRelation);
  const auto named_by_user = [&](std::string_view relation) {
    return std::ranges::find(text.relations, relation) != text.relations.end();
  };
  for (const std::string& relation : text.relations) {
    if (std::ranges::find(known, relation) == known.end()) {
      unknown("--relation", "relation", relation, known);
    }
  }
  s.accuracy = text.relations.empty() || named_by_user(kAccuracyRelation);
  for (const Relation& r : relations()) {
    if (text.relations.empty() || named_by_user(r.name)) s.relations.push_back(&r);
  }
  select_of_device(text, s);
  select_peer(text, s);
}

void select_level(const SelectionText& text, Selection& s) {
  if (text.level.empty()) return;
  const std::optional<Level> level = parse_level(text.level);
  if (!level || *level < Level::kRepeatable || *level > Level::kSchedule) {
    unknown("--level", "level", text.level, {"BI-0", "BI-1", "BI-2", "BI-3"});
  }
  s.target = *level;
}

void select_dims(const SelectionText& text, Selection& s) {
  std::vector<std::string> known;
  for (const OpSpec* op : s.ops) {
    for (const DimRange& d : op->dims) {
      if (std::ranges::find(known, d.name) == known.end()) known.push_back(d.name);
    }
  }
  for (const std::string& part : split(text.dims, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("--dims: '{}' is not NAME=NUMBER; write for example k=281,n=7", part));
    }
    const std::string dim = part.substr(0, equals);
    if (std::ranges::find(known, dim) == known.end()) unknown("--dims", "dim", dim, known);
    const auto extent = number_flag("--dims " + dim, part.substr(equals + 1), kMostExtent);
    if (!s.dims.emplace(dim, extent).second) {
      throw UsageError(fmt::format("--dims: '{}' is given twice", dim));
    }
  }
}

void select_shapes(const SelectionText& text, Selection& s) {
  if (text.shapes.empty()) return;
  if (!text.dims.empty()) {
    throw UsageError("--shapes and --dims exclude each other: both say the sizes");
  }
  s.shapes = read_shapes(text.shapes);
  s.draws = false;
}

/// The sizes of the parts that have some.
void select_suite_sizes(const SelectionText& text, Selection& s) {
  for (const std::string& suite : s.suites) {
    const SuitePart& part = *find_suite_part(suite);
    const bool has_rows = part.rows != nullptr;
    const bool sized = suite != "ops" && (!text.dims.empty() || !text.shapes.empty());
    if (sized || (has_rows && !text.batches.empty())) {
      throw UsageError(fmt::format(
          "--suite excludes --dims, --shapes and --batch: suite {} says the sizes", suite));
    }
    if (has_rows) std::ranges::copy(part.rows(), std::back_inserter(s.shapes));
  }
  if (!s.suites.empty()) s.draws = s.draws && has(s.suites, "ops");
}

std::optional<std::regex> pattern_of(const std::string& text) {
  if (text.empty()) return {};
  try {
    return std::regex(text);
  } catch (const std::regex_error& e) {
    throw UsageError(fmt::format("-k: '{}' is not a regular expression: {}", text, e.what()));
  }
}

}  // namespace

std::string Selection::suite_text() const { return fmt::to_string(fmt::join(suites, ",")); }

bool Selection::takes_preset(const Variant& variant) const {
  if (presets.empty()) return !variant.on_request;
  return std::ranges::find(presets, preset_name(variant)) != presets.end();
}

bool Selection::takes(const OpSpec& op,
                      const Variant& variant,
                      std::string_view relation,
                      DType dtype) const {
  if (relation == kAccuracyRelation) {
    if (!accuracy) return false;
  } else {
    const auto at = std::ranges::find(relations, relation, &Relation::name);
    if (at == relations.end() || (*at)->level > target) return false;
  }
  std::string label = op.name + (variant.name.empty() ? "" : "-" + variant.name);
  label += "." + std::string(relation) + "/" + std::string(name(dtype));
  return !pattern || std::regex_search(label, *pattern);
}

Selection make_selection(const SelectionText& text) {
  Selection s;
  select_suites(text, s);
  select_ops(text, s);
  select_decoders(text, s);
  select_presets(text, s);
  select_dtypes(text, s);
  select_relations(text, s);
  select_level(text, s);
  select_dims(text, s);
  select_shapes(text, s);
  select_suite_sizes(text, s);
  s.pattern = pattern_of(text.case_pattern);
  for (const std::string& b : split(text.batches, ',')) {
    s.batches.push_back(number_flag("--batch", b, kMostBatch));
  }
  s.filtered = !text.ops.empty() || !text.dtypes.empty() || !text.relations.empty() ||
               !text.level.empty() || !text.case_pattern.empty() || !s.dims.empty() ||
               !s.batches.empty() || !s.shapes.empty() || !s.suites.empty() || !s.presets.empty();
  return s;
}

std::vector<std::string> filter_words(const SelectionText& text) {
  std::vector<std::string> typed;
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (!value.empty()) typed.insert(typed.end(), {flag, value});
    }
  };
  add("--op", text.ops);
  add("--dtype", text.dtypes);
  add("--relation", text.relations);
  add("--level", {text.level});
  add("-k", {text.case_pattern});
  add("--dims", {text.dims});
  add("--batch", {text.batches});
  add("--shapes", {text.shapes});
  add("--suite", text.suites);
  add("--preset", text.presets);
  return typed;
}

std::string filters_text(const SelectionText& text) {
  return fmt::to_string(fmt::join(filter_words(text), " "));
}

}  // namespace bic
