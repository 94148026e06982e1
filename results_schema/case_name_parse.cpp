#include <algorithm>
#include <charconv>

#include "results_schema/case_grammar.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr std::size_t kShownCharacters = 80;

// One line of printable ASCII, whatever a user pasted.
std::string shown(std::string_view text) {
  std::string line(text.substr(0, kShownCharacters));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kShownCharacters ? line + "..." : line;
}

[[noreturn]] void reject(std::string_view field,
                         std::string_view text,
                         const std::string& problem,
                         const std::string& expected) {
  throw UsageError("case string: field '" + std::string(field) + "': '" + shown(text) + "' " +
                   problem + "; expected " + expected);
}

// What is read is written again, and must be the text itself: so order, repeats, defaults, leading
// zeros and capitals need no checks of their own.
void require_canonical(std::string_view field, std::string_view text, const std::string& written) {
  if (text != written) reject(field, text, "is not the canonical text", "'" + written + "'");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Decimal digits alone, as far as the type goes.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || text.front() == '-' || error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return number;
}

constexpr auto kHeadExample = "e.g. mm.alone/bf16 or linear-bias.alone/bf16";

void parse_head(std::string_view text, CaseName& out) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) reject("dtype", text, "has no /DTYPE", kHeadExample);
  const std::string_view left = text.substr(0, slash);
  const std::string_view dtype = text.substr(slash + 1);
  const std::size_t dot = left.find('.');
  if (dot == std::string_view::npos) reject("relation", left, "has no .RELATION", kHeadExample);
  const std::string_view relation = left.substr(dot + 1);
  const std::string_view op = left.substr(0, dot);
  const std::size_t dash = op.find('-');
  out.op = op.substr(0, dash);
  if (!grammar::is_name(out.op)) reject("op", op, "is not an op", kHeadExample);
  if (dash != std::string_view::npos) {
    out.variant = op.substr(dash + 1);
    if (!grammar::is_variant(out.variant)) reject("variant", op, "has no variant", kHeadExample);
  }
  out.relation = relation;
  if (!grammar::is_name(relation)) reject("relation", relation, "is not a relation", kHeadExample);
  const auto parsed = parse_dtype(dtype);
  if (!parsed) reject("dtype", dtype, "is not a dtype", "fp32, bf16, fp16 or fp64");
  out.dtype = *parsed;
}

Dims parse_dims(std::string_view text) {
  constexpr auto kExample = "e.g. k4096,n1024";
  Dims dims;
  if (text.empty()) return dims;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t digits = std::min(item.find_first_of("0123456789"), item.size());
    const std::string_view dim = item.substr(0, digits);
    const auto extent = parse_number<std::int64_t>(item.substr(digits));
    if (!grammar::is_dim(dim) || !extent) reject("dims", item, "is not NAME NUMBER", kExample);
    dims.emplace(dim, *extent);
  }
  require_canonical("dims", text, grammar::dims_text(dims));
  return dims;
}

Attributes parse_attributes(std::string_view text) {
  constexpr auto kExample = "e.g. approximate=tanh,eps=0x1p-10";
  Attributes attributes;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view value = item.substr(std::min(equals + 1, item.size()));
    if (!grammar::is_name(item.substr(0, equals)) || !grammar::is_value(value)) {
      reject("attributes", item, "is not NAME=VALUE", kExample);
    }
    attributes.emplace(item.substr(0, equals), value);
  }
  require_canonical("attributes", text, grammar::attributes_text(attributes));
  return attributes;
}

constexpr auto kTrialExample = "e.g. B7@3#42,o=3,form=out,kpad=8,t=4";

// B7@3#42
void parse_plan(std::string_view text, Trial& out) {
  const std::size_t hash = text.find('#');
  if (!text.starts_with('B') || hash == std::string_view::npos) {
    reject("trial", text, "is not BATCH@POSITION#SAMPLE", kTrialExample);
  }
  const std::string_view placed = text.substr(1, hash - 1);
  const std::size_t at = placed.find('@');
  const auto batch = parse_number<std::int64_t>(placed.substr(0, at));
  const auto position = at == std::string_view::npos
                            ? std::optional<std::int64_t>(0)
                            : parse_number<std::int64_t>(placed.substr(at + 1));
  const auto sample = parse_number<std::uint32_t>(text.substr(hash + 1));
  if (!batch || !position || !sample) {
    reject("trial", text, "is not BATCH@POSITION#SAMPLE", kTrialExample);
  }
  out.batch = *batch;
  out.position = *position;
  out.sample = {*sample};
}

std::optional<Storage> parse_storage(std::string_view text) {
  for (const Storage s : {Storage::kTransposed, Storage::kOuterSwapped, Storage::kExpanded}) {
    if (text.size() == 1 && text.front() == grammar::storage_letter(s)) return s;
  }
  return std::nullopt;
}

// The items that are words or have a dim in their key. False when the item is none of them.
bool set_word(std::string_view key, std::string_view value, Trial& out) {
  if (key == "plan" && value == "twins") {
    out.company = Company::kTwins;
    return true;
  }
  if (key == "store") {
    const auto storage = parse_storage(value);
    out.storage = storage.value_or(Storage::kRowMajor);
    return storage.has_value();
  }
  if (key == "form") {
    const auto form = parse_form(value);
    out.form = form.value_or(Form::kFunctional);
    return form.has_value();
  }
  if (key == "t" && value == "over") {
    out.threads = grammar::kOverThreads;
    return true;
  }
  const bool nan = key.ends_with("padnan");
  const std::string_view suffix = nan ? "padnan" : "pad";
  if (!key.ends_with(suffix)) return false;
  out.pad_nan = nan;
  const auto pad = parse_number<std::int64_t>(value);
  out.pad_dim = key.substr(0, key.size() - suffix.size());
  out.pad = pad.value_or(0);
  return pad.has_value();
}

bool set_number(std::string_view key, std::string_view value, Trial& out) {
  constexpr std::pair<std::string_view, int Trial::*> kKeys[] = {{"nb", &Trial::neighbours},
                                                                 {"perm", &Trial::permutation},
                                                                 {"o", &Trial::offset},
                                                                 {"ld", &Trial::row_gap},
                                                                 {"t", &Trial::threads},
                                                                 {"run", &Trial::run},
                                                                 {"worker", &Trial::worker}};
  for (const auto& [known, member] : kKeys) {
    if (key != known) continue;
    const auto number = parse_number<int>(value);
    out.*member = number.value_or(0);
    return number.has_value();
  }
  return false;
}

Trial parse_trial(std::string_view text) {
  const std::vector<std::string_view> items = split(text, ',');
  Trial trial;
  parse_plan(items.front(), trial);
  for (std::size_t i = 1; i < items.size(); ++i) {
    const std::size_t equals = std::min(items[i].find('='), items[i].size());
    const std::string_view key = items[i].substr(0, equals);
    const std::string_view value = items[i].substr(std::min(equals + 1, items[i].size()));
    if (set_word(key, value, trial) || set_number(key, value, trial)) continue;
    reject("trial", text, "has the item '" + shown(items[i]) + "'", kTrialExample);
  }
  const std::string error = grammar::trial_error(trial);
  if (!error.empty()) reject("trial", text, error, kTrialExample);
  require_canonical("trial", text, grammar::trial_text(trial));
  return trial;
}

void parse_fill(std::string_view text, CaseName& out) {
  constexpr auto kExample = "e.g. fill=cancel or fill=normal+special";
  if (!text.starts_with("fill=")) reject("fill", text, "does not begin with fill=", kExample);
  const std::string_view laws = text.substr(5);
  const std::size_t plus = laws.find('+');
  const auto fill = parse_law(laws.substr(0, plus));
  if (!fill) reject("fill", text, "has no such law", kExample);
  out.fill = *fill;
  if (plus == std::string_view::npos) return;
  out.neighbour_law = parse_law(laws.substr(plus + 1));
  if (!out.neighbour_law) reject("fill", text, "has no such law for neighbours", kExample);
}

constexpr std::string_view kIdKey = "id=";

Seed parse_seed_field(std::string_view text) {
  constexpr auto kExample = "s= and sixteen hex digits, e.g. s=9f3c51d20b7e4a11";
  if (!text.starts_with("s=")) reject("seed", text, "does not begin with s=", kExample);
  const auto seed = parse_seed(text.substr(2));
  if (!seed) reject("seed", text, "is not hex", kExample);
  require_canonical("seed", text, "s=" + to_string(*seed));
  return *seed;
}

std::string parse_id(std::string_view text) {
  const std::string_view id = text.substr(kIdKey.size());
  if (!grammar::is_id(id)) reject("id", text, "is not the id of a report", "e.g. id=c01");
  return std::string(id);
}

// Attributes may be left out; a trial is known by its '#', which no attribute can hold.
bool has_attributes(const std::vector<std::string_view>& fields) {
  if (fields.size() >= 6) return true;
  return fields.size() > 3 && fields[2].find('#') == std::string_view::npos &&
         fields[3].find('#') != std::string_view::npos;
}

}  // namespace

CaseName parse_case_name(std::string_view text) {
  CaseName out;
  std::vector<std::string_view> fields = split(text, ':');
  if (fields.size() > 1 && fields.back().starts_with(kIdKey)) {
    out.id = parse_id(fields.back());
    fields.pop_back();
  }
  std::size_t next = 0;
  const auto take = [&](std::string_view field) {
    if (next == fields.size())
      reject(field, text, "ends before it", "OP.RELATION/DTYPE:DIMS:TRIAL~TRIAL:fill=LAW:s=SEED");
    return fields[next++];
  };
  parse_head(take("op"), out);
  out.dims = parse_dims(take("dims"));
  if (has_attributes(fields)) out.attributes = parse_attributes(take("attributes"));
  for (const std::string_view trial : split(take("trial"), '~')) {
    out.trials.push_back(parse_trial(trial));
  }
  parse_fill(take("fill"), out);
  out.seed = parse_seed_field(take("seed"));
  if (next != fields.size())
    reject("seed", fields[next], "follows it", "id=ID or the end of the text");
  return out;
}

}  // namespace bic
