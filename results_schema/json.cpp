#include "results_schema/json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;

// "bad\nkey" in one line.
std::string in_quotes(const std::string& text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

// Walks a text before it is read and keeps the first thing that the library would let pass.
class StrictChecker : public nlohmann::json_sax<json> {
 public:
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t number) override {
    return number <= INT64_MAX || not_an_integer(std::to_string(number));
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool end_array() override { return pop(); }
  bool end_object() override { return pop(); }
  bool start_array(std::size_t) override { return push(); }
  bool start_object(std::size_t) override { return push(); }

  // Also called for integers that do not fit 64 bits.
  bool number_float(number_float_t, const string_t& text) override { return not_an_integer(text); }

  bool key(string_t& key) override {
    Object& object = open_.back();
    object.current = key;
    return object.keys.insert(key).second || stop("key " + in_quotes(key) + " appears twice");
  }

  bool parse_error(std::size_t at, const std::string&, const json::exception& e) override {
    const std::string text = e.what();
    const std::size_t cut = text.find("; ");
    const std::string why = cut == std::string::npos ? text : text.substr(cut + 2);
    open_.clear();
    return stop("not JSON at byte " + std::to_string(at) + ": " + why);
  }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string current;
  };

  bool push() {
    open_.emplace_back();
    return open_.size() <= kDeepest ||
           stop("nested deeper than " + std::to_string(kDeepest) + " levels");
  }

  bool pop() {
    open_.pop_back();
    return true;
  }

  bool not_an_integer(const std::string& number) {
    return stop("number " + number + " is not an integer of 64 bits (no fraction, no exponent)");
  }

  // False ends the walk.
  bool stop(const std::string& problem) {
    std::string place;
    for (const Object& object : open_) {
      if (!object.current.empty()) place += "/" + object.current;
    }
    if (place.size() > 100) place = place.substr(0, 100) + "...";
    problem_ = problem + (place.empty() ? "" : " in " + in_quotes(place));
    return false;
  }

  std::vector<Object> open_;  // an array is an object without keys
  std::string problem_;
};

void refuse_floats(const json& value, const std::string& place) {
  if (value.is_number_float()) {
    throw HarnessError("json: floating-point number " + value.dump() + " at '" + place +
                       "'; write an integer of a smaller unit, or hex");
  }
  if (!value.is_structured()) return;
  for (const auto& [key, child] : value.items()) refuse_floats(child, place + "/" + key);
}

}  // namespace

json read_json(std::string_view text, std::string_view where) {
  StrictChecker checker;
  if (!json::sax_parse(text, &checker)) {
    throw UsageError(std::string(where) + ": " + checker.problem());
  }
  return json::parse(text);
}

std::string canonical_json(const json& value) {
  refuse_floats(value, "");
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace bic
