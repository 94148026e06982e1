#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bic::libtorch {

/// Watches, on this thread and while it lives, which overloads the dispatcher runs.
class Reached {
 public:
  Reached();
  ~Reached();
  Reached(const Reached&) = delete;
  Reached& operator=(const Reached&) = delete;

  /// Overloads as "aten::mm.out" ("aten::mm" for the default one), each once, first reached first.
  std::vector<std::string> overloads() const;

 private:
  std::uint64_t handle_;
};

}  // namespace bic::libtorch
