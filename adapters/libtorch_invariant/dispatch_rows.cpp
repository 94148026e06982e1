#include "adapters/libtorch_invariant/dispatch_rows.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <sstream>

namespace bic::libtorch_invariant {
namespace {

constexpr const char* kOverloads[][2] = {
    {"aten::mm", ""},
    {"aten::mm", "out"},
    {"aten::bmm", ""},
    {"aten::bmm", "out"},
    {"aten::addmm", ""},
    {"aten::addmm", "out"},
    {"aten::addmm_", ""},
    {"aten::baddbmm", ""},
    {"aten::baddbmm", "out"},
    {"aten::baddbmm_", ""},
    {"aten::mv", ""},
    {"aten::mv", "out"},
    {"aten::dot", ""},
    {"aten::convolution", ""},
    {"aten::linear", ""},
    {"aten::linear", "out"},
    {"aten::matmul", ""},
    {"aten::matmul", "out"},
    {"aten::sum", ""},
    {"aten::sum", "dim_IntList"},
    {"aten::sum", "IntList_out"},
    {"aten::mean", "dim"},
    {"aten::mean", "out"},
    {"aten::var", "correction"},
    {"aten::var", "correction_out"},
    {"aten::std", "correction"},
    {"aten::std", "correction_out"},
    {"aten::var_mean", "correction"},
    {"aten::std_mean", "correction"},
    {"aten::linalg_vector_norm", ""},
    {"aten::linalg_vector_norm", "out"},
    {"aten::prod", ""},
    {"aten::prod", "dim_int"},
    {"aten::prod", "int_out"},
    {"aten::cumsum", ""},
    {"aten::cumsum", "out"},
    {"aten::cumsum_", ""},
    {"aten::_softmax", ""},
    {"aten::_softmax", "out"},
    {"aten::native_layer_norm", ""},
    {"aten::_log_softmax", ""},
    {"aten::_log_softmax", "out"},
    {"aten::logsumexp", ""},
    {"aten::logsumexp", "out"},
    {"aten::rms_norm", ""},
    {"aten::native_group_norm", ""},
    {"aten::native_batch_norm", ""},
    {"aten::cudnn_batch_norm", ""},
    {"aten::scaled_dot_product_attention", ""},
    {"aten::gelu", ""},
    {"aten::gelu", "out"},
    {"aten::gelu_", ""},
    {"aten::silu", ""},
    {"aten::silu", "out"},
    {"aten::silu_", ""},
    {"aten::sigmoid", ""},
    {"aten::sigmoid", "out"},
    {"aten::sigmoid_", ""},
    {"aten::tanh", ""},
    {"aten::tanh", "out"},
    {"aten::tanh_", ""},
    {"aten::exp", ""},
    {"aten::exp", "out"},
    {"aten::exp_", ""},
    {"aten::log", ""},
    {"aten::log", "out"},
    {"aten::log_", ""},
    {"aten::rsqrt", ""},
    {"aten::rsqrt", "out"},
    {"aten::rsqrt_", ""},
    {"aten::sin", ""},
    {"aten::sin", "out"},
    {"aten::sin_", ""},
    {"aten::cos", ""},
    {"aten::cos", "out"},
    {"aten::cos_", ""},
    {"aten::pow", "Tensor_Scalar"},
    {"aten::pow", "Tensor_Scalar_out"},
    {"aten::pow", "Tensor_Tensor"},
    {"aten::pow", "Tensor_Tensor_out"},
    {"aten::pow_", "Scalar"},
    {"aten::pow_", "Tensor"},
    {"aten::add", "Tensor"},
    {"aten::add", "out"},
    {"aten::add_", "Tensor"},
};

/// The line of the operator's computed dispatch table that says who serves the key.
std::string row_of(const c10::OperatorHandle& op, const std::string& key) {
  std::istringstream table(op.dumpComputedTable());
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with(key + ":")) return line;
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> dispatch_rows(const std::string& key) {
  std::map<std::string, std::string> rows;
  for (const auto& [name, overload] : kOverloads) {
    const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
    if (op) rows[c10::toString(op->operator_name())] = row_of(*op, key);
  }
  return rows;
}

std::vector<std::string> rows_changed_since(const std::map<std::string, std::string>& before,
                                            const std::string& key) {
  std::vector<std::string> changed;
  for (const auto& [overload, row] : dispatch_rows(key)) {
    if (row != before.at(overload)) changed.push_back(overload);
  }
  return changed;
}

}  // namespace bic::libtorch_invariant
