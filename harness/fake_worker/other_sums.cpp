#include "harness/fake_worker/other_sums.h"

#include "generators/laws.h"
#include "results_schema/error.h"

namespace bic::fake {
namespace {

template <class A>
struct Compensated {
  A sum{}, lost{};

  void add(A term) {
    const A more = term - lost;
    const A next = sum + more;
    lost = (next - sum) - more;
    sum = next;
  }
};

template <class A>
A product_element(const Operands& o, std::int64_t element) {
  const std::int64_t k = o.dims.at("k"), n = o.dims.at("n");
  const std::int64_t row = element / n * k, column = element % n;
  Compensated<A> all;
  for (std::int64_t i = 0; i < k; ++i) {
    all.add(static_cast<A>(o.values[0][row + i]) * static_cast<A>(o.values[1][i * n + column]));
  }
  return all.sum;
}

template <class A>
A total(const Operands& o) {
  Compensated<A> all;
  for (const double x : o.values[0]) all.add(static_cast<A>(x));
  return all.sum;
}

template <class A>
A compensated_element(const OpSpec& op, const Operands& o, std::int64_t element) {
  if (op.name == "mm") return product_element<A>(o, element);
  if (op.name == "sum") return total<A>(o);
  throw HarnessError("the fake worker has no compensated '" + op.name + "'");
}

}  // namespace

void pairwise_sums(const OpSpec& op,
                   const Operands& operands,
                   DType output,
                   std::span<const std::int64_t> elements,
                   std::span<double> y) {
  op.reference->control(operands, output, Order::kPairwise, elements, y);
}

void compensated_sums(const OpSpec& op,
                      const Operands& operands,
                      DType output,
                      std::span<const std::int64_t> elements,
                      std::span<double> y) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    y[i] = output == DType::kFloat64
               ? compensated_element<double>(op, operands, elements[i])
               : round_to(output, compensated_element<float>(op, operands, elements[i]));
  }
}

}  // namespace bic::fake
