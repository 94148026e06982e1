#include "adapters/libtorch/reached.h"

#include <ATen/record_function.h>

#include <algorithm>

namespace bic::libtorch {
namespace {

// A callback carries no state of its own; callbacks are thread-local, and so is what they see.
thread_local std::vector<std::string> seen;

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  // operator_name only: inputs() is invalid unless asked for, and holding them would keep them
  // alive.
  if (const auto name = function.operator_name()) {
    std::string text = c10::toString(*name);
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  return nullptr;
}

}  // namespace

Reached::Reached() {
  seen.clear();
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(on_start).scopes({at::RecordScope::FUNCTION}));
}

Reached::~Reached() { at::removeCallback(handle_); }

std::vector<std::string> Reached::overloads() const { return seen; }

}  // namespace bic::libtorch
