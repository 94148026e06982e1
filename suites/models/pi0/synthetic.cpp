#include "suites/models/pi0/synthetic.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <bit>
#include <cmath>

#include "generators/isa.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

constexpr std::uint32_t kWeyl = 0x9E3779B1u;

/// A bijection of 32 bits.
BIC_LOOP inline std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/// x / 2^31 - 1, by a signed conversion, which every instruction set has.
BIC_LOOP inline double centred(std::uint32_t x) {
  return static_cast<std::int32_t>(x ^ 0x80000000u) * 0x1p-31;
}

BIC_LOOP inline void put(float* to, float value) { *to = value; }
BIC_LOOP inline void put(double* to, float value) { *to = value; }
/// To nearest, ties to even; no value is NaN.
BIC_LOOP inline void put(c10::BFloat16* to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to->x = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
void fill(T* to, std::uint32_t seed, double scale, double offset, std::int64_t elements) {
  constexpr std::int64_t kGrain = 1 << 16;
  at::parallel_for(0, elements, kGrain, [=](std::int64_t begin, std::int64_t end) {
    isa::run_widest([=]() BIC_LOOP {
      for (std::int64_t k = begin; k < end; ++k) {
        const double u = centred(mixed(static_cast<std::uint32_t>(k) * kWeyl + seed));
        put(to + k, static_cast<float>(offset + scale * u));
      }
    });
  });
}

/// How values of a law are spread: offset + scale u.
struct Spread {
  double scale;
  double offset;
};

Spread spread(const Parameter& p) {
  const double fan_in = static_cast<double>(p.elements() / p.shape[0]);
  switch (p.law) {
    case Law::kEmbedding:
      return {0.5, 0};
    case Law::kBias:
      return {0.1, 0};
    case Law::kRmsNorm:
      return {0.2, 0};
    case Law::kLayerNorm:
      return {0.2, 1};
    case Law::kMatrix:
      return {std::sqrt(3 / fan_in), 0};
    case Law::kActionOut:
      return {std::sqrt(3 / fan_in) * 0.3, 0};
  }
  return {};
}

/// Row b: `before` values of `id`, then its text, then zeros.
at::Tensor text_ids(const Config& c, std::int64_t batch, std::span<const std::int64_t> lengths) {
  const std::int64_t before = c.variant == Variant::kOpenPiZero ? c.vision.tokens() : 0;
  at::Tensor ids = at::full({batch, before + c.text_slots}, c.pad_id, at::kLong);
  ids.slice(1, 0, before).fill_(c.image_id);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::int64_t* text = ids[b].data_ptr<std::int64_t>() + before;
    for (std::int64_t j = 0; j < lengths[b % lengths.size()]; ++j) {
      text[j] = 1 + (7 * b + 3 * j) % 199;
    }
  }
  return ids;
}

at::Tensor input(const char* name, std::vector<std::int64_t> shape, at::ScalarType dtype) {
  return synthetic_tensor(std::string("input.") + name, shape, 1, 0, dtype);
}

}  // namespace

double synthetic_value(std::uint32_t seed, std::uint64_t k) {
  return centred(mixed(static_cast<std::uint32_t>(k) * kWeyl + seed));
}

at::Tensor synthetic_tensor(std::string_view name,
                            at::IntArrayRef shape,
                            double scale,
                            double offset,
                            at::ScalarType dtype) {
  const std::uint32_t seed = fnv1a(name);
  at::Tensor t = at::empty(shape, dtype);
  if (dtype == at::kFloat) fill(t.data_ptr<float>(), seed, scale, offset, t.numel());
  if (dtype == at::kDouble) fill(t.data_ptr<double>(), seed, scale, offset, t.numel());
  if (dtype == at::kBFloat16) fill(t.data_ptr<c10::BFloat16>(), seed, scale, offset, t.numel());
  return t;
}

Weights synthetic_weights(const Config& config, at::ScalarType dtype) {
  return synthetic_weights(config, parameters(config), dtype);
}

Weights synthetic_weights(const Config& config,
                          const std::vector<Parameter>& list,
                          at::ScalarType dtype) {
  Weights weights;
  for (const Parameter& p : list) {
    const auto [scale, offset] = spread(p);
    weights[p.name] =
        synthetic_tensor(p.name, p.shape, scale, offset, stored_dtype(config, p, dtype));
  }
  return weights;
}

Inputs synthetic_inputs(const Config& c, std::int64_t batch, at::ScalarType dtype) {
  constexpr std::int64_t kLengths[] = {3, 5, 2, 6};
  const at::Tensor ids = text_ids(c, batch, kLengths);
  const std::int64_t side = c.vision.image;
  return {input("pixel_values", {batch, 3, side, side}, dtype),
          ids,
          ids.ne(c.pad_id).to(at::kLong),
          input("proprios", {batch, 1, c.state_dim}, dtype),
          input("initial_action", {batch, c.action_tokens, c.action_dim}, dtype)};
}

OpenPiInputs synthetic_openpi_inputs(const Config& c, std::int64_t batch) {
  constexpr std::int64_t kLengths[] = {5, 8};
  OpenPiInputs in;
  for (const char* camera : {"base_0_rgb", "left_wrist_0_rgb", "right_wrist_0_rgb"}) {
    in.images.push_back(input(camera, {batch, 3, c.vision.image, c.vision.image}, at::kFloat));
  }
  in.image_mask = at::ones({batch, c.images}, at::kBool);
  if (batch > 1) in.image_mask[1][2].fill_(false);
  in.input_ids = text_ids(c, batch, kLengths);
  in.text_mask = in.input_ids.ne(c.pad_id);
  in.state = input("state", {batch, c.state_dim}, at::kFloat);
  in.noise = input("noise", {batch, c.action_tokens, c.action_dim}, at::kFloat);
  return in;
}

}  // namespace bic::pi0
