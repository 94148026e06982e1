#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic::report {

/// What is not the same of two subjects: a library, a setting, the device.
struct SubjectChange {
  std::string what;    ///< "libtorch_cpu.so", "device"
  std::string before;  ///< empty: was not there
  std::string now;     ///< empty: is not there
};

/// Cases of one op and dtype that stand in both reports with the same inputs.
struct RowBits {
  std::string op;
  DType dtype = DType::kFloat32;
  std::int64_t compared = 0;
  std::vector<std::string> changed;  ///< of them, those whose output has other bits
};

/// Whether a change of the subject changed its bits.
struct BitsDifference {
  std::vector<SubjectChange> subject;
  std::string device;         ///< of the new report
  std::vector<RowBits> rows;  ///< those with changed cases, the most first
  std::int64_t compared = 0;
  std::int64_t changed = 0;
  std::int64_t other_inputs = 0;  ///< cases of the same name that were not compared for it
};

BitsDifference compare_bits(const Report& before, const Report& now);

/// For people: what changed of the subject, then the cases.
std::string bits_text(const BitsDifference& bits);

}  // namespace bic::report
