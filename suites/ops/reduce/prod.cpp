#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {
namespace {

/// Several rows a sample: rows that are long underflow.
Variant variant(std::string name,
                const std::vector<std::string>& x,
                const std::vector<std::string>& y,
                const std::string& arguments) {
  return row_variant({.name = std::move(name), .x = x, .y = y, .dims = ""},
                     "aten::prod.dim_int(x, " + arguments + ")",
                     "aten::prod.int_out(x, " + arguments + ", out=y)");
}

}  // namespace

OpSpec prod() {
  return {
      .name = "prod",
      .formula = "y = product of x along one axis (torch.prod)",
      .why =
          "every factor rounds the product: fp32 shows that in all inputs, 16 bits in law factors",
      .bound =
          "gamma_(n-1) |y| in any order (Higham 3.1), and what partial products lose where "
          "they underflow",
      .variants = {variant("", {"t*B", "h"}, {"t*B"}, "1, False"),
                   variant("keepdim", {"t*B", "h"}, {"t*B", "1"}, "1, True"),
                   variant("middle", {"B", "h", "p"}, {"B", "p"}, "1, False"),
                   variant("dim0", {"h", "p*B"}, {"p*B"}, "0, False")},
      .laws = {Law::kFactors, Law::kNormal, Law::kOutlier},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kIntegers, Law::kOnes, Law::kOutlier},
      .dims = {{"h", 8, 96}, {"t", 3, 12}, {"p", 3, 24}},
      .reference = product_reference()};
}

}  // namespace bic::ops
