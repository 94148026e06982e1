#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string_view>
#include <tuple>

/// ATen's operators over the bundled kernels. Signatures, shapes, dtypes and errors are ATen's.
/// Results are a function of a sample's own bytes; layouts that a kernel does not take are copied
/// first, byte for byte. Outputs given in an awkward layout get a copy of a row-major result.
namespace bic::libtorch_invariant {

at::Tensor mm(const at::Tensor& a, const at::Tensor& b);
at::Tensor& mm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out);
at::Tensor bmm(const at::Tensor& a, const at::Tensor& b);
at::Tensor& bmm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out);
at::Tensor addmm(const at::Tensor& self,
                 const at::Tensor& a,
                 const at::Tensor& b,
                 const at::Scalar& beta,
                 const at::Scalar& alpha);
at::Tensor& addmm_out(const at::Tensor& self,
                      const at::Tensor& a,
                      const at::Tensor& b,
                      const at::Scalar& beta,
                      const at::Scalar& alpha,
                      at::Tensor& out);
at::Tensor linear(const at::Tensor& x, const at::Tensor& w, const std::optional<at::Tensor>& bias);
at::Tensor& linear_out(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       at::Tensor& out);
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);
at::Tensor& matmul_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out);

at::Tensor sum(const at::Tensor& x, std::optional<at::ScalarType> dtype);
at::Tensor sum_dim(const at::Tensor& x,
                   at::OptionalIntArrayRef dims,
                   bool keepdim,
                   std::optional<at::ScalarType> dtype);
at::Tensor& sum_dim_out(const at::Tensor& x,
                        at::OptionalIntArrayRef dims,
                        bool keepdim,
                        std::optional<at::ScalarType> dtype,
                        at::Tensor& out);
at::Tensor softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float);
at::Tensor& softmax_out(const at::Tensor& x, std::int64_t dim, bool half_to_float, at::Tensor& out);
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& x,
    at::IntArrayRef normalized,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    double eps);

at::Tensor gelu(const at::Tensor& x, std::string_view approximate);
at::Tensor& gelu_out(const at::Tensor& x, std::string_view approximate, at::Tensor& out);
at::Tensor& gelu_(at::Tensor& x, std::string_view approximate);

}  // namespace bic::libtorch_invariant
