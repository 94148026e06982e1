#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace torch {
class Library;
}

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
at::Tensor& addmm_(at::Tensor& self,
                   const at::Tensor& a,
                   const at::Tensor& b,
                   const at::Scalar& beta,
                   const at::Scalar& alpha);
at::Tensor baddbmm(const at::Tensor& self,
                   const at::Tensor& a,
                   const at::Tensor& b,
                   const at::Scalar& beta,
                   const at::Scalar& alpha);
at::Tensor& baddbmm_out(const at::Tensor& self,
                        const at::Tensor& a,
                        const at::Tensor& b,
                        const at::Scalar& beta,
                        const at::Scalar& alpha,
                        at::Tensor& out);
at::Tensor& baddbmm_(at::Tensor& self,
                     const at::Tensor& a,
                     const at::Tensor& b,
                     const at::Scalar& beta,
                     const at::Scalar& alpha);
at::Tensor mv(const at::Tensor& a, const at::Tensor& x);
at::Tensor& mv_out(const at::Tensor& a, const at::Tensor& x, at::Tensor& out);
at::Tensor dot(const at::Tensor& a, const at::Tensor& b);
at::Tensor convolution(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride,
                       at::IntArrayRef padding,
                       at::IntArrayRef dilation,
                       bool transposed,
                       at::IntArrayRef output_padding,
                       std::int64_t groups);
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
at::Tensor mean_dim(const at::Tensor& x,
                    at::OptionalIntArrayRef dims,
                    bool keepdim,
                    std::optional<at::ScalarType> dtype);
at::Tensor& mean_out(const at::Tensor& x,
                     at::OptionalIntArrayRef dims,
                     bool keepdim,
                     std::optional<at::ScalarType> dtype,
                     at::Tensor& out);
at::Tensor var_correction(const at::Tensor& x,
                          at::OptionalIntArrayRef dims,
                          const std::optional<at::Scalar>& correction,
                          bool keepdim);
at::Tensor& var_correction_out(const at::Tensor& x,
                               at::OptionalIntArrayRef dims,
                               const std::optional<at::Scalar>& correction,
                               bool keepdim,
                               at::Tensor& out);
at::Tensor std_correction(const at::Tensor& x,
                          at::OptionalIntArrayRef dims,
                          const std::optional<at::Scalar>& correction,
                          bool keepdim);
at::Tensor& std_correction_out(const at::Tensor& x,
                               at::OptionalIntArrayRef dims,
                               const std::optional<at::Scalar>& correction,
                               bool keepdim,
                               at::Tensor& out);
std::tuple<at::Tensor, at::Tensor> var_mean(const at::Tensor& x,
                                            at::OptionalIntArrayRef dims,
                                            const std::optional<at::Scalar>& correction,
                                            bool keepdim);
std::tuple<at::Tensor, at::Tensor> std_mean(const at::Tensor& x,
                                            at::OptionalIntArrayRef dims,
                                            const std::optional<at::Scalar>& correction,
                                            bool keepdim);
at::Tensor vector_norm(const at::Tensor& x,
                       const at::Scalar& ord,
                       at::OptionalIntArrayRef dims,
                       bool keepdim,
                       std::optional<at::ScalarType> dtype);
at::Tensor& vector_norm_out(const at::Tensor& x,
                            const at::Scalar& ord,
                            at::OptionalIntArrayRef dims,
                            bool keepdim,
                            std::optional<at::ScalarType> dtype,
                            at::Tensor& out);
at::Tensor prod(const at::Tensor& x, std::optional<at::ScalarType> dtype);
at::Tensor prod_dim(const at::Tensor& x,
                    std::int64_t dim,
                    bool keepdim,
                    std::optional<at::ScalarType> dtype);
at::Tensor& prod_dim_out(const at::Tensor& x,
                         std::int64_t dim,
                         bool keepdim,
                         std::optional<at::ScalarType> dtype,
                         at::Tensor& out);
at::Tensor cumsum(const at::Tensor& x, std::int64_t dim, std::optional<at::ScalarType> dtype);
at::Tensor& cumsum_out(const at::Tensor& x,
                       std::int64_t dim,
                       std::optional<at::ScalarType> dtype,
                       at::Tensor& out);
at::Tensor& cumsum_(at::Tensor& x, std::int64_t dim, std::optional<at::ScalarType> dtype);

at::Tensor softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float);
at::Tensor& softmax_out(const at::Tensor& x, std::int64_t dim, bool half_to_float, at::Tensor& out);
at::Tensor log_softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float);
at::Tensor& log_softmax_out(const at::Tensor& x,
                            std::int64_t dim,
                            bool half_to_float,
                            at::Tensor& out);
at::Tensor logsumexp(const at::Tensor& x, at::IntArrayRef dims, bool keepdim);
at::Tensor& logsumexp_out(const at::Tensor& x, at::IntArrayRef dims, bool keepdim, at::Tensor& out);

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& x,
    at::IntArrayRef normalized,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    double eps);

at::Tensor rms_norm(const at::Tensor& x,
                    at::IntArrayRef normalized,
                    const std::optional<at::Tensor>& weight,
                    std::optional<double> eps);
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_group_norm(
    const at::Tensor& x,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    std::int64_t n,
    std::int64_t channels,
    std::int64_t inner,
    std::int64_t groups,
    double eps);
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(
    const at::Tensor& x,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& mean,
    const std::optional<at::Tensor>& variance,
    bool training,
    double momentum,
    double eps);

at::Tensor scaled_dot_product_attention(const at::Tensor& q,
                                        const at::Tensor& k,
                                        const at::Tensor& v,
                                        const std::optional<at::Tensor>& mask,
                                        double dropout,
                                        bool is_causal,
                                        std::optional<double> scale,
                                        bool grouped);

at::Tensor gelu(const at::Tensor& x, std::string_view approximate);
at::Tensor& gelu_out(const at::Tensor& x, std::string_view approximate, at::Tensor& out);
at::Tensor& gelu_(at::Tensor& x, std::string_view approximate);

/// silu, sigmoid, tanh, exp, log, rsqrt, sin, cos, pow and add.
void register_pointwise(torch::Library& library);

}  // namespace bic::libtorch_invariant
