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
    {"aten::linear", ""},
    {"aten::linear", "out"},
    {"aten::matmul", ""},
    {"aten::matmul", "out"},
    {"aten::sum", ""},
    {"aten::sum", "dim_IntList"},
    {"aten::sum", "IntList_out"},
    {"aten::_softmax", ""},
    {"aten::_softmax", "out"},
    {"aten::native_layer_norm", ""},
    {"aten::gelu", ""},
    {"aten::gelu", "out"},
    {"aten::gelu_", ""},
};

/// The line of the operator's computed dispatch table that says who serves the CPU key.
std::string cpu_row(const c10::OperatorHandle& op) {
  std::istringstream table(op.dumpComputedTable());
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("CPU:")) return line;
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> cpu_rows() {
  std::map<std::string, std::string> rows;
  for (const auto& [name, overload] : kOverloads) {
    const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
    if (op) rows[c10::toString(op->operator_name())] = cpu_row(*op);
  }
  return rows;
}

std::vector<std::string> rows_changed_since(const std::map<std::string, std::string>& before) {
  std::vector<std::string> changed;
  for (const auto& [overload, row] : cpu_rows()) {
    if (row != before.at(overload)) changed.push_back(overload);
  }
  return changed;
}

}  // namespace bic::libtorch_invariant
