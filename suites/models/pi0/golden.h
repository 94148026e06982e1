#pragma once

#include <string>
#include <vector>

#include "suites/models/pi0/synthetic.h"

namespace bic::pi0 {

/// What the public Python code gave in fp32 on a CPU for the synthetic weights and requests.
struct Golden {
  const char* section;
  const char* name;
  std::int64_t sample;
  std::int64_t rows;  ///< of [heads, rows, head_dim]; 0: the whole sample
  double sum;
  double max_abs;
  double first, middle, last;  ///< at flat index 0, n/2 and n - 1
};

const std::vector<Golden>& golden_tiny();
const std::vector<Golden>& golden_tiny_openpi();

/// tiny's action before the clip: sample 0, then the first row of sample 1.
const std::vector<double>& golden_tiny_action();

/// The model of a preset with its synthetic weights.
Model synthetic_model(const char* preset_name, at::ScalarType dtype = at::kFloat);

/// A model on the golden's two requests, and what it recorded.
struct GoldenRun {
  at::Tensor action;
  Recorder recorder;
};
GoldenRun run_open_pi_zero(const Model& model, at::ScalarType inputs = at::kFloat);
GoldenRun run_openpi(const Model& model);

/// Elements and maxima are compared to 2e-6, sums to 1e-4; one line for each that is off.
std::vector<std::string> off_golden(const GoldenRun& run, const std::vector<Golden>& golden);
std::vector<std::string> off_golden_action(const at::Tensor& action);

}  // namespace bic::pi0
