#include "harness/files/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "results_schema/axis.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr const char* kAxisHelp =
    "write a dim, a number, a linear expression of them (2*d), B or rows*B";

bool is_identifier(const std::string& text) {
  const auto part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, part);
}

}  // namespace

TensorReader::TensorReader(const std::vector<DimRange>& dims) {
  for (const DimRange& d : dims) {
    largest_[d.name] = d.hi;
    smallest_[d.name] = d.lo;
  }
}

TensorSpec TensorReader::input(const JsonNode& at) const {
  at.allow({"name", "axes", "elements", "below"});
  TensorSpec t = named(at);
  const std::string kind = at.text_or("elements", "values");
  if (kind == "indices") {
    t.elements = Elements::kIndices;
    t.below = axis(at.at("below"));
  } else if (kind == "bools") {
    t.elements = Elements::kBools;
  } else if (kind != "values") {
    at.at("elements").refuse(fmt::format("'{}' is not values, indices or bools", kind));
  }
  return t;
}

TensorSpec TensorReader::output(const JsonNode& at) const {
  at.allow({"name", "axes", "dtype"});
  return named(at);
}

std::string TensorReader::axis(const JsonNode& at) const {
  const std::string text = at.text();
  try {
    axis_extent(text, smallest_, 1);
    axis_extent(text, largest_, 1);
  } catch (const HarnessError& e) {
    at.refuse(fmt::format("{}; {}", e.what(), kAxisHelp));
  }
  return text;
}

TensorSpec TensorReader::named(const JsonNode& at) const {
  TensorSpec t{.name = at.at("name").text(), .axes = {}};
  if (!is_identifier(t.name)) at.at("name").refuse("a tensor's name is of letters, digits and _");
  for (const JsonNode& item : at.at("axes").items()) t.axes.push_back(axis(item));
  if (std::ranges::count_if(t.axes, is_batch_axis) > 1) at.at("axes").refuse("B stands twice");
  return t;
}

}  // namespace bic
