#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "results_schema/case_name.h"
#include "results_schema/error.h"

namespace bic {

void showValue(const CaseName& c, std::ostream& out) { out << to_string(c); }

namespace {

constexpr auto kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr auto kWord = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr auto kValue = "abcxyzABCXYZ0123456789_.+-";

// `first` is one character, `rest` up to five more.
rc::Gen<std::string> text(std::string first, std::string rest, std::size_t longest = 5) {
  return rc::gen::exec([=] {
    std::string out(1, *rc::gen::elementOf(first));
    const auto more = *rc::gen::inRange<std::size_t>(0, longest + 1);
    for (std::size_t i = 0; i < more; ++i) out += *rc::gen::elementOf(rest);
    return out;
  });
}

rc::Gen<std::string> name_text() { return text(kLower, kWord); }
rc::Gen<std::string> dim_text() { return text(kLower, std::string(kLower) + "_"); }

// Zero half of the time, so that defaults and single fields are as frequent as full trials; else
// small or up to the largest.
template <typename Number>
Number draw_number(Number lo = 0) {
  if (*rc::gen::arbitrary<bool>()) return lo;
  const Number largest = std::numeric_limits<Number>::max();
  return *rc::gen::oneOf(rc::gen::inRange<Number>(lo, 100),
                         rc::gen::inRange<Number>(largest - 5, largest),
                         rc::gen::just(largest));
}

template <typename Enum>
Enum draw_enum(int count) {
  return static_cast<Enum>(*rc::gen::inRange(0, count));
}

Trial draw_trial() {
  Trial t;
  t.batch = draw_number<std::int64_t>(1);
  t.position = t.batch == 1 ? 0 : *rc::gen::inRange<std::int64_t>(0, t.batch);
  t.sample = {draw_number<std::uint32_t>()};
  t.company = draw_enum<Company>(2);
  t.neighbours = draw_number<int>();
  t.permutation = draw_number<int>();
  t.offset = draw_number<int>();
  t.row_gap = draw_number<int>();
  t.storage = draw_enum<Storage>(4);
  t.form = draw_enum<Form>(3);
  t.pad = draw_number<std::int64_t>();
  if (t.pad > 0) t.pad_dim = *dim_text();
  t.threads = draw_number<int>(-1);
  t.run = draw_number<int>();
  t.worker = draw_number<int>();
  return t;
}

rc::Gen<CaseName> case_names() {
  return rc::gen::exec([] {
    CaseName c;
    c.op = *name_text();
    if (*rc::gen::arbitrary<bool>()) c.variant = *text(kWord, kWord);
    c.relation = *name_text();
    c.dtype = draw_enum<DType>(4);
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      c.dims[*dim_text()] = draw_number<std::int64_t>();
    }
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
      c.attributes[*name_text()] = *text(kValue, kValue);
    }
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) c.trials.push_back(draw_trial());
    c.fill = draw_enum<Law>(static_cast<int>(kLawCount));
    if (*rc::gen::arbitrary<bool>()) c.neighbour_law = draw_enum<Law>(static_cast<int>(kLawCount));
    c.seed = {*rc::gen::arbitrary<std::uint64_t>()};
    if (*rc::gen::arbitrary<bool>()) c.id = *text(kLower, "abcdefghijklmnopqrstuvwxyz0123456789");
    return c;
  });
}

// One character replaced, inserted or deleted; two thirds of the new ones are of the grammar.
std::string edited(std::string text) {
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const char typed = *rc::gen::oneOf(rc::gen::elementOf(std::string(":/.-,~=#@+BsktBo0179afx")),
                                     rc::gen::elementOf(std::string(kValue)),
                                     rc::gen::arbitrary<char>());
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      text[at] = typed;
      return text;
    case 1:
      return text.insert(at, 1, typed);
    default:
      return text.erase(at, 1);
  }
}

bool is_shell_safe(const std::string& text) {
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=+/@#~-") ==
         std::string::npos;
}

RC_GTEST_PROP(CaseNameProperty, RoundTripsExactly, ()) {
  const CaseName c = *case_names();
  const std::string text = to_string(c);
  RC_ASSERT(parse_case_name(text) == c);
  RC_ASSERT(to_string(parse_case_name(text)) == text);
}

// A `~` or `#` is special to a shell at a word's beginning only, where a name never has one.
RC_GTEST_PROP(CaseNameProperty, IsOneShellSafeToken, ()) {
  const std::string text = to_string(*case_names());
  RC_ASSERT(is_shell_safe(text));
  RC_ASSERT(text.front() >= 'a' && text.front() <= 'z');
}

RC_GTEST_PROP(CaseNameProperty, AnEditedTextIsRefusedOrCanonical, ()) {
  const std::string text = edited(to_string(*case_names()));
  std::string read;
  try {
    read = to_string(parse_case_name(text));
  } catch (const UsageError& error) {
    const std::string line = error.what();
    RC_TAG("refused");
    RC_ASSERT(line.rfind("case string: field '", 0) == 0);
    RC_ASSERT(line.find('\n') == std::string::npos);
    return;
  }
  RC_TAG("accepted");
  RC_ASSERT(read == text);
}

}  // namespace
}  // namespace bic
