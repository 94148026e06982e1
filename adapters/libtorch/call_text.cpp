#include "adapters/libtorch/call_text.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <optional>

#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool starts_word(char c) { return is_word(c) && std::isdigit(static_cast<unsigned char>(c)) == 0; }

/// Recursive descent over one text; every error names the offset.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<CallStep> steps() {
    std::vector<CallStep> steps;
    while (skip_separators(), !at_end()) {
      steps.push_back(step());
      if (!at_end() && !is_separator(peek())) fail("';' or the end");
    }
    if (steps.empty()) fail("a call");
    return steps;
  }

  CallValue whole_value() {
    CallValue parsed = value();
    if (!at_end()) fail("the end");
    return parsed;
  }

 private:
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static bool is_separator(char c) { return c == ';' || c == '\n'; }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void skip_separators() {
    while (is_separator(peek())) ++at_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw HarnessError(
        fmt::format("call text '{}': expected {} at offset {}", text_, expected, at_));
  }

  std::string word() {
    if (!starts_word(peek())) fail("a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  CallStep step() {
    CallStep step;
    const bool bracket = take('(');
    std::string first = word();
    if (bracket || peek() == '=' || peek() == ',') {
      step.targets.push_back(std::move(first));
      while (take(',')) step.targets.push_back(word());
      if (bracket) expect(')');
      expect('=');
      first = word();
    }
    operator_name(std::move(first), step);
    arguments(step);
    return step;
  }

  void operator_name(std::string space, CallStep& step) {
    expect(':');
    expect(':');
    step.op = space + "::" + word();
    if (take('.')) step.overload = word();
    if (step.overload == "default") step.overload.clear();
  }

  void arguments(CallStep& step) {
    expect('(');
    if (take(')')) return;
    do {
      argument(step);
    } while (take(','));
    expect(')');
  }

  void argument(CallStep& step) {
    if (std::optional<std::string> name = keyword()) {
      step.named.emplace_back(std::move(*name), value());
      return;
    }
    if (!step.named.empty()) fail("'name=' after a named argument");
    step.positional.push_back(value());
  }

  /// `name=`, or nothing and the place unmoved.
  std::optional<std::string> keyword() {
    if (!starts_word(peek())) return std::nullopt;
    const std::size_t begin = at_;
    std::string name = word();
    if (take('=')) return name;
    at_ = begin;
    return std::nullopt;
  }

  CallValue value() {
    const char c = peek();
    if (c == '[') return {list()};
    if (c == '"' || c == '\'') return {quoted(c)};
    if (starts_word(c)) return word_value();
    return number();
  }

  CallValue::List list() {
    CallValue::List items;
    expect('[');
    if (take(']')) return items;
    do {
      items.push_back(value());
    } while (take(','));
    expect(']');
    return items;
  }

  std::string quoted(char quote) {
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a closing quote");
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  CallValue word_value() {
    std::string name = word();
    if (name == "None") return {std::monostate{}};
    if (name == "True" || name == "False") return {name == "True"};
    if (name == "inf" || name == "nan") return {std::strtod(name.c_str(), nullptr)};
    return {CallName{std::move(name)}};
  }

  CallValue number() {
    const std::size_t begin = at_;
    auto is_part = [&](char c) {
      const char before = at_ > begin ? text_[at_ - 1] : '\0';
      const bool exponent = before == 'p' || before == 'P' || before == 'e' || before == 'E';
      return is_word(c) || c == '.' || ((c == '-' || c == '+') && (at_ == begin || exponent));
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    const std::string token(text_.substr(begin, at_ - begin));
    char* end = nullptr;
    if (const std::int64_t i = std::strtoll(token.c_str(), &end, 10); !token.empty() && !*end) {
      return {i};
    }
    const double real = std::strtod(token.c_str(), &end);
    if (token.empty() || *end != '\0') {
      at_ = begin;
      fail("a value");
    }
    return {real};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string to_text(const CallValue& value);

struct Printer {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool b) const { return b ? "True" : "False"; }
  std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
  std::string operator()(double d) const { return fmt::format("{:a}", d); }
  std::string operator()(const std::string& s) const { return '"' + s + '"'; }
  std::string operator()(const CallName& n) const { return n.text; }
  std::string operator()(const CallValue::List& list) const {
    std::string text = "[";
    for (const CallValue& item : list) text += (text.size() > 1 ? ", " : "") + to_text(item);
    return text + "]";
  }
};

std::string to_text(const CallValue& value) { return std::visit(Printer{}, value.value); }

}  // namespace

std::vector<CallStep> parse_call(std::string_view text) { return Parser(text).steps(); }

std::string to_string(const CallStep& step) {
  std::string text;
  for (const std::string& target : step.targets) text += (text.empty() ? "(" : ", ") + target;
  if (!text.empty()) text += ") = ";
  text += step.op + "." + (step.overload.empty() ? "default" : step.overload);
  std::string arguments;
  auto add = [&](const std::string& one) { arguments += (arguments.empty() ? "" : ", ") + one; };
  for (const CallValue& value : step.positional) add(to_text(value));
  for (const auto& [name, value] : step.named) add(name + "=" + to_text(value));
  return text + "(" + arguments + ")";
}

CallValue parse_attribute(std::string_view text) {
  try {
    CallValue parsed = Parser(text).whole_value();
    if (!std::holds_alternative<CallName>(parsed.value)) return parsed;
  } catch (const HarnessError&) {
    // Not a literal: a plain word or phrase such as "tanh".
  }
  return {std::string(text)};
}

std::string attribute_text(const CallValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  return text == nullptr ? to_text(value) : *text;
}

}  // namespace bic::libtorch
