// OpenBLAS under judgement: its gemm, gemv and dot, called as they come. A matrix of which neither
// axis is dense is copied first, which changes no bit.
#include <cblas.h>

#include <string_view>

#include "adapters/external/claims.h"
#include "adapters/external/strided.h"

namespace bic::external {
namespace {

template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = cblas_sgemm;
  static constexpr auto gemv = cblas_sgemv;
  static constexpr auto dot = cblas_sdot;
};
template <>
struct Blas<double> {
  static constexpr auto gemm = cblas_dgemm;
  static constexpr auto gemv = cblas_dgemv;
  static constexpr auto dot = cblas_ddot;
};

/// An operand as BLAS takes it.
template <class T>
class Operand {
 public:
  explicit Operand(Matrix<T> m) : matrix_(m) {
    if (m.is_row_major()) return;
    if (m.transposed().is_row_major()) {
      matrix_ = m.transposed();
      transposed_ = CblasTrans;
      return;
    }
    matrix_ = dense(m, copied_);
    copy(m, matrix_);
  }
  const T* data() const { return matrix_.first; }
  blasint leading() const { return static_cast<blasint>(matrix_.leading()); }
  CBLAS_TRANSPOSE transposed() const { return transposed_; }
  const Matrix<T>& stored() const { return matrix_; }

 private:
  Matrix<T> matrix_;
  CBLAS_TRANSPOSE transposed_ = CblasNoTrans;
  std::vector<T> copied_;
};

/// y = alpha x w + beta y.
template <class T>
void gemm(Matrix<T> x, Matrix<T> w, Matrix<T> y, T alpha, T beta) {
  const Operand<T> a(x), b(w);
  std::vector<T> memory;
  const Matrix<T> to = y.is_row_major() ? y : dense(y, memory);
  if (to.first != y.first && beta != 0) copy(y, to);
  Blas<T>::gemm(CblasRowMajor,
                a.transposed(),
                b.transposed(),
                static_cast<blasint>(y.rows),
                static_cast<blasint>(y.columns),
                static_cast<blasint>(x.columns),
                alpha,
                a.data(),
                a.leading(),
                b.data(),
                b.leading(),
                beta,
                to.first,
                static_cast<blasint>(to.leading()));
  if (to.first != y.first) copy(to, y);
}

/// y = a x, or aᵀ x where `across`. The flag follows the variant, not the strides: those of one row
/// and of one column are the same.
template <class T>
void gemv(Matrix<T> a, bool across, const bic_tensor& x, const bic_tensor& y) {
  const Operand<T> matrix(a);
  const bool transposed = (matrix.transposed() == CblasTrans) != across;
  Blas<T>::gemv(CblasRowMajor,
                transposed ? CblasTrans : CblasNoTrans,
                static_cast<blasint>(matrix.stored().rows),
                static_cast<blasint>(matrix.stored().columns),
                1,
                matrix.data(),
                matrix.leading(),
                first<T>(x),
                static_cast<blasint>(x.strides[0]),
                0,
                first<T>(y),
                static_cast<blasint>(y.strides[0]));
}

/// The attribute of that name, else 1.
double factor(const bic_call& call, std::string_view name) {
  for (int i = 0; i < call.attribute_count; ++i) {
    if (call.attributes[i]->name == name) return call.attributes[i]->number;
  }
  return 1;
}

/// c is a row for all, or a matrix; in place it is y.
template <class T>
void addmm(const bic_call& call) {
  const bic_tensor &c = *call.inputs[2], &y = *call.output;
  const Matrix<T> to = matrix<T>(y);
  if (first<T>(c) != to.first) {
    Matrix<T> from = matrix<T>(c);
    if (c.ndim == 1) from = {from.first, to.rows, to.columns, 0, c.strides[0]};
    copy(from, to);
  }
  gemm(matrix<T>(*call.inputs[0]),
       matrix<T>(*call.inputs[1]),
       to,
       static_cast<T>(factor(call, "alpha")),
       static_cast<T>(factor(call, "beta")));
}

template <class T>
void compute(const bic_call& call) {
  const std::string_view op = call.op;
  const bic_tensor &a = *call.inputs[0], &b = *call.inputs[1], &y = *call.output;
  if (op == "addmm") return addmm<T>(call);
  if (op == "mm") return gemm<T>(matrix<T>(a), matrix<T>(b), matrix<T>(y), 1, 0);
  if (op == "mv") return gemv<T>(matrix<T>(a), std::string_view(call.variant) == "columns", b, y);
  if (op == "dot") {
    *first<T>(y) = Blas<T>::dot(static_cast<blasint>(a.shape[0]),
                                first<T>(a),
                                static_cast<blasint>(a.strides[0]),
                                first<T>(b),
                                static_cast<blasint>(b.strides[0]));
    return;
  }
  for (std::int64_t i = 0; i < y.shape[0]; ++i) {  // bmm
    gemm<T>(matrix<T>(a, i), matrix<T>(b, i), matrix<T>(y, i), 1, 0);
  }
}

int run(bic_call* call) {
  call->team = 0;  // all its threads are of libgomp
  openblas_set_num_threads(call->threads);
  call->output->dtype.bits == 64 ? compute<double>(*call) : compute<float>(*call);
  return 0;
}

}  // namespace
}  // namespace bic::external

const bic_plugin* bi_conform_plugin(std::uint32_t version) {
  using namespace bic::external;
  static const Table table("OpenBLAS",
                           openblas_get_config() + std::string_view("OpenBLAS ").size(),
                           "OpenBLAS' interface: sums in the type of the operands, in any order",
                           {{BIC_FLOAT, 32, 1}, {BIC_FLOAT, 64, 1}},
                           {"mm", "bmm", "addmm", "mv", "dot"},
                           {"addmm"},
                           run,
                           nullptr);
  return version < BIC_PLUGIN_VERSION ? nullptr : table.get();
}
