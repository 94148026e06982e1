// Products and convolutions in __float128.
#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

const Attributes kFactors{{"alpha", "0x1.8p-1"}, {"beta", "-0x1.4p+0"}};

/// `stacks` matrices by as many, or by one that all of them share; a bias of one row or whole.
Sample draw_product(Rng& rng, DType t, std::int64_t stacks, bool shared, bool matrix) {
  const std::int64_t m = 1 + rng() % 5, k = 1 + rng() % 40, n = 1 + rng() % 9;
  return {{normals(rng, t, stacks * m * k),
           normals(rng, t, (shared ? 1 : stacks) * k * n),
           normals(rng, t, matrix ? stacks * m * n : n)},
          {{"m", m}, {"k", k}, {"n", n}},
          kFactors};
}

Quads naive_product(const Sample& s) {
  const std::size_t m = s.dims.at("m"), k = s.dims.at("k"), n = s.dims.at("n");
  Quads y;
  for (std::size_t stack = 0; stack < s.values[0].size() / (m * k); ++stack) {
    const std::size_t right = s.values[1].size() == k * n ? 0 : stack * k * n;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        Quad sum = 0;
        for (std::size_t c = 0; c < k; ++c) {
          sum += static_cast<Quad>(s.values[0][(stack * m + i) * k + c]) *
                 s.values[1][right + c * n + j];
        }
        const std::size_t at = s.values[2].size() == n ? j : (stack * m + i) * n + j;
        y.push_back(sum * 3 / 4 - static_cast<Quad>(s.values[2][at]) * 5 / 4);
      }
    }
  }
  return y;
}

/// By its digits: stride, padding, dilation, groups.
Sample draw_convolution(Rng& rng, DType t, const std::string& numbers, bool channels_last) {
  const std::int64_t stride = numbers[0] - '0', dilation = numbers[2] - '0',
                     groups = numbers[3] - '0';
  const std::int64_t c = 1 + rng() % 4, n = 1 + rng() % 3, kh = 2 + rng() % 2, kw = 2 + rng() % 2;
  const std::int64_t ho = 1 + rng() % 3, wo = 1 + rng() % 4;
  const std::int64_t h = stride * (ho - 1) + dilation * (kh - 1) + 1,
                     w = stride * (wo - 1) + dilation * (kw - 1) + 1;
  Sample s{{normals(rng, t, groups * c * h * w),
            normals(rng, t, groups * n * c * kh * kw),
            normals(rng, t, groups * n)},
           {{"c", c}, {"n", n}, {"kh", kh}, {"kw", kw}, {"ho", ho}, {"wo", wo}, {"h", h}, {"w", w}},
           {{"stride", numbers.substr(0, 1)},
            {"padding", numbers.substr(1, 1)},
            {"dilation", numbers.substr(2, 1)},
            {"groups", numbers.substr(3, 1)}}};
  if (channels_last) s.attributes["layout"] = "channels_last";
  return s;
}

/// Input by input, each to the outputs that see it.
Quads naive_convolution(const Sample& s) {
  const auto dim = [&](const char* name) { return s.dims.at(name); };
  const auto number = [&](const char* name) { return std::stoll(s.attributes.at(name)); };
  const std::int64_t c = dim("c"), n = dim("n"), kh = dim("kh"), kw = dim("kw"), h = dim("h"),
                     w = dim("w"), stride = number("stride"), padding = number("padding"),
                     dilation = number("dilation"), groups = number("groups");
  const std::int64_t height = (h + 2 * padding - dilation * (kh - 1) - 1) / stride + 1,
                     width = (w + 2 * padding - dilation * (kw - 1) - 1) / stride + 1;
  const bool last = s.attributes.contains("layout");
  Quads y;
  for (std::int64_t i = 0; i < groups * n * height * width; ++i) {
    y.push_back(s.values[2][i / (height * width)]);
  }
  for (std::int64_t i = 0; i < groups * c * h * w; ++i) {
    const std::int64_t channel = last ? i % (groups * c) : i / (h * w),
                       place = last ? i / (groups * c) : i % (h * w);
    for (std::int64_t tap = 0; tap < n * kh * kw; ++tap) {
      const std::int64_t filter = channel / c * n + tap / (kh * kw), u = tap / kw % kh,
                         v = tap % kw;
      const std::int64_t top = place / w + padding - u * dilation,
                         left = place % w + padding - v * dilation;
      if (top < 0 || left < 0 || top % stride != 0 || left % stride != 0) continue;
      if (top / stride >= height || left / stride >= width) continue;
      y[(filter * height + top / stride) * width + left / stride] +=
          static_cast<Quad>(s.values[0][i]) *
          s.values[1][((filter * c + channel % c) * kh + u) * kw + v];
    }
  }
  return y;
}

OracleCase convolution(std::string name, const std::string& numbers, bool channels_last) {
  return {"convolution_" + name,
          convolution_reference(),
          [=](Rng& r, DType t) { return draw_convolution(r, t, numbers, channels_last); },
          naive_convolution};
}

OracleCase product(std::string name, std::int64_t stacks, bool shared, bool matrix) {
  return {"product_" + name,
          matmul_reference(),
          [=](Rng& r, DType t) { return draw_product(r, t, stacks, shared, matrix); },
          naive_product};
}

}  // namespace

std::vector<OracleCase> product_cases() {
  return {product("scaled", 1, false, true),
          product("scaled_row", 3, false, false),
          product("shared", 3, true, true),
          convolution("plain", "1011", false),
          convolution("padded", "1111", false),
          convolution("strided", "2111", false),
          convolution("dilated", "1221", false),
          convolution("grouped", "1012", false),
          convolution("channels_last", "1112", true)};
}

}  // namespace bic::testing_support
