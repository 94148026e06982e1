#include "adapters/plugin/call.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace bic::plugin {
namespace {

using protocol::Outcome;

// More than any memory has: beyond it a shape is nonsense, and its product may not fit 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

bic_attribute attribute(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && *end == '\0';
  return {BIC_PLUGIN_STRUCT(bic_attribute), name.c_str(), text.c_str(), whole ? number : NAN};
}

bic_form form_of(Form form) {
  return form == Form::kOut ? BIC_OUT : form == Form::kInplace ? BIC_INPLACE : BIC_FUNCTIONAL;
}

template <class T>
std::vector<const T*> pointers(const std::vector<T>& all) {
  std::vector<const T*> to;
  for (const T& one : all) to.push_back(&one);
  return to;
}

}  // namespace

Call::Call(const CallHead& head, std::vector<bic_tensor> inputs, const bic_tensor& output)
    : inputs_(std::move(inputs)),
      shape_given_(output.shape, output.shape + output.ndim),
      output_shape_(shape_given_),
      output_given_(output) {
  output_given_.shape = output_shape_.data();
  for (const auto& [name, text] : head.attributes) attributes_.push_back(attribute(name, text));
  input_pointers_ = pointers(inputs_);
  attribute_pointers_ = pointers(attributes_);
  call_ = {BIC_PLUGIN_STRUCT(bic_call),
           head.op.c_str(),
           head.variant.c_str(),
           head.text.c_str(),
           form_of(head.form),
           head.threads,
           static_cast<std::int32_t>(attributes_.size()),
           static_cast<std::int32_t>(inputs_.size()),
           attribute_pointers_.data(),
           input_pointers_.data(),
           &output_,
           -1};
}

Outcome Call::make(const Library& library, std::string& message) {
  std::ranges::copy(shape_given_, output_shape_.begin());  // where output_ points
  output_ = output_given_;
  call_.team = -1;
  try {
    const int code = library.run(call_);
    if (code == 0) return Outcome::kRan;
    message = library.error_of(code);
    return code < 0 ? Outcome::kRefused : Outcome::kException;
  } catch (const std::exception& e) {  // of a plug-in in C++
    const std::string text = e.what();
    message = text.substr(0, text.find('\n'));
    return Outcome::kException;
  }
}

const bic_tensor& Call::output() const {
  const bool moved =
      output_.data != output_given_.data || output_.byte_offset != output_given_.byte_offset ||
      output_.strides != output_given_.strides || output_.shape != output_given_.shape;
  if (moved) throw std::runtime_error("the plug-in moved the output that it was given");
  if (output_.ndim < 0 || output_.ndim > output_given_.ndim) {
    throw std::runtime_error("the plug-in gave the output " + std::to_string(output_.ndim) +
                             " axes; it has " + std::to_string(output_given_.ndim));
  }
  std::int64_t elements = 1;
  for (std::int32_t axis = 0; axis < output_.ndim; ++axis) {
    const std::int64_t extent = output_.shape[axis];
    if (extent < 0 || extent > kMostElements / std::max<std::int64_t>(1, elements)) {
      throw std::runtime_error("the plug-in gave an axis of the output " + std::to_string(extent) +
                               " elements");
    }
    elements *= extent;
  }
  return output_;
}

}  // namespace bic::plugin
