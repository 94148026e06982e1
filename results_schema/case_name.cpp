#include "results_schema/case_name.h"

#include <algorithm>

#include "results_schema/case_grammar.h"
#include "results_schema/error.h"

namespace bic {
namespace grammar {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_lower(c) || is_digit(c) || c == '_'; }
bool is_value_character(char c) {
  return is_word(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-';
}

std::string number_item(const char* key, std::int64_t value) {
  return value == 0 ? "" : "," + std::string(key) + "=" + std::to_string(value);
}

std::string threads_item(int threads) {
  return threads == kOverThreads ? ",t=over" : number_item("t", threads);
}

}  // namespace

bool is_variant(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word);
}

bool is_name(std::string_view text) { return is_variant(text) && is_lower(text.front()); }

bool is_dim(std::string_view text) {
  return is_name(text) && std::none_of(text.begin(), text.end(), is_digit);
}

bool is_id(std::string_view text) {
  return is_name(text) && text.find('_') == std::string_view::npos;
}

bool is_value(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_value_character);
}

char storage_letter(Storage storage) {
  switch (storage) {
    case Storage::kRowMajor:
      return 0;
    case Storage::kTransposed:
      return 't';
    case Storage::kOuterSwapped:
      return 's';
    case Storage::kExpanded:
      return 'e';
  }
  return 0;
}

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const auto& [dim, extent] : dims) {
    text += (text.empty() ? "" : ",") + dim + std::to_string(extent);
  }
  return text;
}

std::string attributes_text(const Attributes& attributes) {
  std::string text;
  for (const auto& [attribute, value] : attributes) {
    text += (text.empty() ? "" : ",") + attribute + "=" + value;
  }
  return text;
}

std::string trial_text(const Trial& t) {
  std::string text = "B" + std::to_string(t.batch);
  if (t.position != 0) text += "@" + std::to_string(t.position);
  text += "#" + std::to_string(t.sample.value);
  if (t.company == Company::kTwins) text += ",plan=twins";
  text += number_item("nb", t.neighbours);
  text += number_item("perm", t.permutation);
  text += number_item("o", t.offset);
  text += number_item("ld", t.row_gap);
  if (const char letter = storage_letter(t.storage)) text += std::string(",store=") + letter;
  if (t.form != Form::kFunctional) text += ",form=" + std::string(name(t.form));
  text += number_item((t.pad_dim + (t.pad_nan ? "padnan" : "pad")).c_str(), t.pad);
  text += threads_item(t.threads);
  text += number_item("run", t.run);
  text += number_item("worker", t.worker);
  return text;
}

std::string trial_error(const Trial& t) {
  if (t.batch < 1) return "has a batch of " + std::to_string(t.batch) + ", not of 1 and more";
  if (t.position < 0 || t.position >= t.batch) {
    return "has position " + std::to_string(t.position) + " outside a batch of " +
           std::to_string(t.batch);
  }
  const int counts[] = {t.neighbours, t.permutation, t.offset, t.row_gap, t.run, t.worker};
  if (*std::min_element(std::begin(counts), std::end(counts)) < 0) return "has a negative number";
  if (t.threads < kOverThreads) return "has " + std::to_string(t.threads) + " threads";
  if (t.pad < 0 || t.pad_dim.empty() != (t.pad == 0) || (t.pad_nan && t.pad == 0))
    return "pads no dim, or by no number";
  // The name is not repeated: it is what somebody typed, and the error that shows it is one line.
  if (!t.pad_dim.empty() && !is_dim(t.pad_dim)) return "pads what is no dim";
  return "";
}

}  // namespace grammar

namespace {

constexpr auto kNoText = "has no text in the grammar of results_schema/case_name.h";

void require(bool holds, const char* field, const std::string& text, const std::string& problem) {
  if (holds) return;
  throw HarnessError("case string: cannot write field '" + std::string(field) + "': '" + text +
                     "' " + problem);
}

void require_trial(const Trial& trial) {
  const std::string error = grammar::trial_error(trial);
  require(error.empty(), "trial", grammar::trial_text(trial), error);
}

void require_writable(const CaseName& c) {
  require(grammar::is_name(c.op), "op", c.op, kNoText);
  require(c.variant.empty() || grammar::is_variant(c.variant), "variant", c.variant, kNoText);
  require(grammar::is_name(c.relation), "relation", c.relation, kNoText);
  for (const auto& [dim, extent] : c.dims) {
    require(grammar::is_dim(dim) && extent >= 0, "dims", dim + std::to_string(extent), kNoText);
  }
  for (const auto& [attribute, value] : c.attributes) {
    const bool good = grammar::is_name(attribute) && grammar::is_value(value);
    require(good, "attributes", attribute + "=" + value, kNoText);
  }
  require(!c.trials.empty(), "trial", "", kNoText);
  for (const Trial& trial : c.trials) require_trial(trial);
  require(c.id.empty() || grammar::is_id(c.id), "id", c.id, kNoText);
}

}  // namespace

std::string to_string(const Trial& trial) {
  require_trial(trial);
  return grammar::trial_text(trial);
}

std::string to_string(const CaseName& c) {
  require_writable(c);
  std::string text = c.op;
  if (!c.variant.empty()) text.append("-").append(c.variant);
  text.append(".").append(c.relation).append("/").append(name(c.dtype));
  text.append(":").append(grammar::dims_text(c.dims));
  if (!c.attributes.empty()) text.append(":").append(grammar::attributes_text(c.attributes));
  for (std::size_t i = 0; i < c.trials.size(); ++i) {
    text.append(i == 0 ? ":" : "~").append(grammar::trial_text(c.trials[i]));
  }
  text.append(":fill=").append(name(c.fill));
  if (c.neighbour_law) text.append("+").append(name(*c.neighbour_law));
  text.append(":s=").append(to_string(c.seed));
  return c.id.empty() ? text : text.append(":id=").append(c.id);
}

}  // namespace bic
