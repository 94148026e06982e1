// oneDNN under judgement: its matmul primitive, called as it comes. Operands that share memory or
// of which no axis is dense are copied first, which changes no bit.
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "adapters/external/claims.h"
#include "adapters/external/strided.h"

namespace bic::external {
namespace {

using dnnl::memory;

std::string error;

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc describe(const bic_tensor& t, const memory::dims& strides) {
  const auto type = t.dtype.code == BIC_BFLOAT ? memory::data_type::bf16 : memory::data_type::f32;
  return {memory::dims(t.shape, t.shape + t.ndim), type, strides};
}

/// Whether oneDNN's kernels take it where it lies.
template <class T>
bool is_taken(const bic_tensor& t) {
  const Matrix<T> m = matrix<T>(t);
  const bool apart = t.ndim < 3 || t.shape[0] == 1 || t.strides[0] >= m.rows * m.columns;
  return apart && (m.is_row_major() || m.transposed().is_row_major());
}

/// A tensor of two or three axes as oneDNN takes it.
template <class T>
class Operand {
 public:
  explicit Operand(const bic_tensor& t) {
    memory::dims strides(t.strides, t.strides + t.ndim);
    T* data = first<T>(t);
    if (!is_taken<T>(t)) {
      strides = dense_copy(t);
      data = copied_.data();
    }
    memory_ = memory(describe(t, strides), cpu(), data);
  }
  const memory& get() const { return memory_; }

 private:
  memory::dims dense_copy(const bic_tensor& t) {
    const Matrix<T> m = matrix<T>(t);
    const std::int64_t batch = t.ndim == 3 ? t.shape[0] : 1, size = m.rows * m.columns;
    copied_.resize(static_cast<std::size_t>(batch * size));
    for (std::int64_t b = 0; b < batch; ++b) {
      copy(matrix<T>(t, b), {copied_.data() + b * size, m.rows, m.columns, m.columns, 1});
    }
    return t.ndim == 3 ? memory::dims{size, m.columns, 1} : memory::dims{m.columns, 1};
  }

  std::vector<T> copied_;
  memory memory_;
};

template <class T>
void multiply(const bic_call& call) {
  const Operand<T> a(*call.inputs[0]), b(*call.inputs[1]);
  const memory y(
      describe(*call.output,
               memory::dims(call.output->strides, call.output->strides + call.output->ndim)),
      cpu(),
      first<T>(*call.output));
  const dnnl::matmul::desc what(a.get().get_desc(), b.get().get_desc(), y.get_desc());
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc(what, cpu()));
  dnnl::stream stream(cpu());
  matmul.execute(stream, {{DNNL_ARG_SRC, a.get()}, {DNNL_ARG_WEIGHTS, b.get()}, {DNNL_ARG_DST, y}});
  stream.wait();
}

int run(bic_call* call) {
  call->team = 0;  // all its threads are of libgomp
  omp_set_num_threads(call->threads);
  try {
    call->output->dtype.bits == 16 ? multiply<std::uint16_t>(*call) : multiply<float>(*call);
    return 0;
  } catch (const dnnl::error& e) {
    error = e.what();
    return e.status == dnnl_unimplemented ? -1 : 1;
  }
}

/// Whether this CPU has what oneDNN wants for bf16: without AVX-512 it multiplies fp32 alone.
bool multiplies_bf16() {
  const memory::desc square({2, 2}, memory::data_type::bf16, memory::dims{2, 1});
  try {
    const dnnl::matmul::primitive_desc probe(dnnl::matmul::desc(square, square, square), cpu());
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

const char* last_error() { return error.c_str(); }

std::string release() {
  const dnnl_version_t* const v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + " " + v->hash;
}

}  // namespace
}  // namespace bic::external

const bic_plugin* bi_conform_plugin(std::uint32_t version) {
  using namespace bic::external;
  std::vector<bic_dtype> dtypes{{BIC_FLOAT, 32, 1}};
  if (multiplies_bf16()) dtypes.push_back({BIC_BFLOAT, 16, 1});
  static const Table table("oneDNN",
                           release(),
                           "oneDNN's matmul: sums in fp32, in any order, one rounding",
                           dtypes,
                           {"mm", "bmm"},
                           {},
                           run,
                           last_error);
  return version < BIC_PLUGIN_VERSION ? nullptr : table.get();
}
