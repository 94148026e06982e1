#include "adapters/libtorch/studies.h"

#include "adapters/libtorch/audit_study.h"
#include "adapters/libtorch/decoder_study.h"
#include "adapters/libtorch/perf_study.h"
#include "adapters/libtorch/trace_study.h"

namespace bic::libtorch {

std::map<std::string, Study> studies() {
  return {{"audit", audit},
          {"decoder", decoder_study},
          {"perf", perf_study},
          {"trace", trace},
          {"trace_ops", trace_ops}};
}

}  // namespace bic::libtorch
