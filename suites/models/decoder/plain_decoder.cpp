#include "suites/models/decoder/plain_decoder.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bic::decoder {
namespace {

double dot(const double* a, const double* b, std::size_t n) {
  return std::inner_product(a, a + n, b, 0.0);
}

double gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

void add(std::vector<double>& to, const std::vector<double>& x) {
  std::transform(to.begin(), to.end(), x.begin(), to.begin(), std::plus<>());
}

}  // namespace

PlainDecoder::PlainDecoder(const pi0::Model& model) : config_(model.config) {
  for (const auto& [name, w] : model.weights) {
    const at::Tensor wide = w.to(at::kDouble).contiguous();
    const double* first = wide.const_data_ptr<double>();
    weights_[name] = {first, first + wide.numel()};
  }
}

const PlainDecoder::Row& PlainDecoder::weight(const std::string& name) const {
  return weights_.at(name + ".weight");
}

PlainDecoder::Row PlainDecoder::linear(const std::string& name, const Row& x) const {
  const Row& w = weight(name);
  Row y(w.size() / x.size());
  for (std::size_t o = 0; o < y.size(); ++o) y[o] = dot(&w[o * x.size()], x.data(), x.size());
  return y;
}

PlainDecoder::Row PlainDecoder::rms_norm(const std::string& name, const Row& x) const {
  const Row& w = weight(name);
  const double mean = dot(x.data(), x.data(), x.size()) / static_cast<double>(x.size());
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] / std::sqrt(mean + config_.rms_eps) * (1 + w[i]);
  }
  return y;
}

/// Element i of a head and i + d/2 are a point that turns by the position, the slower the larger i.
void PlainDecoder::turn(double* head, std::int64_t position) const {
  const std::int64_t half = config_.head_dim / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(half);
    const double angle =
        static_cast<double>(position) / std::pow(config_.experts[0].rope_base, exponent);
    const double a = head[i], b = head[i + half];
    head[i] = a * std::cos(angle) - b * std::sin(angle);
    head[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
}

PlainDecoder::Rows PlainDecoder::attention(const std::string& name, const Rows& x) const {
  const auto d = static_cast<std::size_t>(config_.head_dim);
  Rows keys, values, out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    keys.push_back(linear(name + "k_proj", x[t]));
    values.push_back(linear(name + "v_proj", x[t]));
    turn(keys[t].data(), static_cast<std::int64_t>(t));
    Row q = linear(name + "q_proj", x[t]), o(q.size());
    for (std::size_t h = 0; h < q.size(); h += d) {
      turn(&q[h], static_cast<std::int64_t>(t));
      Row p;
      for (const Row& k : keys) {
        p.push_back(std::exp(dot(&q[h], k.data(), d) / std::sqrt(static_cast<double>(d))));
      }
      const double total = std::accumulate(p.begin(), p.end(), 0.0);
      for (std::size_t s = 0; s <= t; ++s) {
        for (std::size_t i = 0; i < d; ++i) o[h + i] += p[s] / total * values[s][i];
      }
    }
    out.push_back(linear(name + "o_proj", o));
  }
  return out;
}

PlainDecoder::Row PlainDecoder::mlp(const std::string& name, const Row& x) const {
  Row gate = linear(name + "gate_proj", x);
  const Row up = linear(name + "up_proj", x);
  for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gelu(gate[i]) * up[i];
  return linear(name + "down_proj", gate);
}

std::vector<double> PlainDecoder::logits(const std::vector<std::int64_t>& tokens) const {
  const pi0::Expert& e = config_.experts[0];
  const Row& table = weight(config_.names.embedding);
  const auto width = static_cast<std::size_t>(e.width);
  Rows x;
  for (const std::int64_t token : tokens) {
    const auto row = table.begin() + token * e.width;
    x.emplace_back(row, row + e.width);
    for (double& v : x.back()) v *= std::sqrt(static_cast<double>(width));
  }
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    const std::string layer = fmt::format("{}layers.{}.", e.prefix, l);
    Rows u;
    for (const Row& row : x) u.push_back(rms_norm(layer + "input_layernorm", row));
    const Rows o = attention(layer + "self_attn.", u);
    for (std::size_t t = 0; t < x.size(); ++t) {
      add(x[t], o[t]);
      add(x[t], mlp(layer + "mlp.", rms_norm(layer + "post_attention_layernorm", x[t])));
    }
  }
  return linear(config_.names.embedding, rms_norm(e.prefix + "norm", x.back()));
}

}  // namespace bic::decoder
