#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/libtorch/call_text.h"
#include "suites/ops/op_spec.h"

namespace bic::libtorch {

/// What a plug-in is given for one call of ATen's.
struct Bound {
  std::vector<at::Tensor> inputs;  ///< in the order of the variant's
  at::Tensor output;               ///< the tensor that the form writes to; undefined when fresh
  std::vector<std::int64_t> output_shape;
  at::ScalarType output_type = at::kFloat;
  Attributes attributes;
};

/// One way in which callers of ATen reach an op of the suite: a variant's call in one form, when it
/// is one call of one overload that returns one tensor.
class LiftedCall {
 public:
  /// Nothing where the text takes several steps, or where the shapes of the inputs do not say the
  /// output's.
  static std::optional<LiftedCall> of(const OpSpec& op, const Variant& variant, Form form);

  const OpSpec& op() const { return *op_; }
  const Variant& variant() const { return *variant_; }
  Form form() const { return form_; }
  const std::string& text() const { return *text_; }
  const c10::OperatorHandle& overload() const { return overload_; }

  /// Nothing where the arguments are not this variant's in `dtype`: another rank, type, option or
  /// broadcasting, or a tensor without elements.
  std::optional<Bound> bind(c10::ArrayRef<c10::IValue> arguments, DType dtype) const;

 private:
  /// One argument of the schema: a tensor of the variant, or what the text or the schema says.
  struct Slot {
    const TensorSpec* tensor = nullptr;
    CallValue written;
    bool is_dtype = false;
  };
  class Binding;

  LiftedCall(const OpSpec& op, const Variant& variant, Form form, c10::OperatorHandle overload);
  bool fill_slots(const CallStep& step);
  bool shapes_say_the_outputs() const;
  Slot slot_of(const CallValue& written, const c10::Argument& argument) const;

  const OpSpec* op_;
  const Variant* variant_;
  Form form_;
  const std::string* text_;
  c10::OperatorHandle overload_;
  std::vector<Slot> slots_;
};

}  // namespace bic::libtorch
