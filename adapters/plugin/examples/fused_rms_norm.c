/* A plug-in with an op that the suite does not have, in fp32; adapters/examples/fused_rms_norm.json
 * says what it is: y = s / sqrt(mean s^2 + eps) * w for s = x + residual.
 *   bi-conform --backend plugin:fused_rms_norm.so --op-spec fused_rms_norm.json --op fused_rms_norm
 * Each row is one sum over h in order. With SPLITS_BELOW rows the sum is made in two halves, as a
 * kernel does that wants more blocks than there are rows: such a plug-in must fail. */
#include <math.h>
#include <string.h>

#include "bi_conform_plugin.h"

#ifndef SPLITS_BELOW
#define SPLITS_BELOW 0
#endif

/* A row of a matrix, or the one row of a vector. */
struct row {
  float* first;
  int64_t stride;
};

static struct row row_of(const struct bic_tensor* t, int64_t i) {
  float* const first = (float*)((char*)t->data + t->byte_offset);
  const int last = t->ndim - 1;
  const struct row row = {first + (t->ndim == 2 ? i * t->strides[0] : 0), t->strides[last]};
  return row;
}

static float sum_of_squares(struct row x, struct row r, int64_t from, int64_t to) {
  float sum = 0;
  for (int64_t j = from; j < to; ++j) {
    const float s = x.first[j * x.stride] + r.first[j * r.stride];
    sum += s * s;
  }
  return sum;
}

static double attribute(const struct bic_call* call, const char* name) {
  for (int i = 0; i < call->attribute_count; ++i) {
    if (strcmp(call->attributes[i]->name, name) == 0) return call->attributes[i]->number;
  }
  return NAN;
}

static int run(struct bic_call* call) {
  const struct bic_tensor* const y = call->output;
  const int64_t rows = y->shape[0], h = y->shape[1];
  const int64_t cut = rows < SPLITS_BELOW ? h / 2 : 0;
  const float eps = (float)attribute(call, "eps");
  const struct row w = row_of(call->inputs[2], 0);
  for (int64_t i = 0; i < rows; ++i) {
    const struct row x = row_of(call->inputs[0], i), r = row_of(call->inputs[1], i);
    const float sum = sum_of_squares(x, r, 0, cut) + sum_of_squares(x, r, cut, h);
    const float root = sqrtf(sum / (float)h + eps);
    const struct row to = row_of(y, i);
    for (int64_t j = 0; j < h; ++j) {
      const float s = x.first[j * x.stride] + r.first[j * r.stride];
      to.first[j * to.stride] = s / root * w.first[j * w.stride];
    }
  }
  call->team = 1;
  return 0;
}

static const struct bic_claim fused_rms_norm_fp32 = {
    BIC_PLUGIN_STRUCT(struct bic_claim),
    .op = "fused_rms_norm",
    .dtype = {BIC_FLOAT, 32, 1},
    .accumulator = {BIC_FLOAT, 32, 1},
    .form = "",
    .source = "examples/fused_rms_norm.c: one fp32 sum in the order of h",
};
static const struct bic_claim* const claims[] = {&fused_rms_norm_fp32};

static const struct bic_plugin plugin = {
    BIC_PLUGIN_STRUCT(struct bic_plugin),
    .name = "example-fused-rms-norm",
    .release = "1",
    .claim_count = 1,
    .claims = claims,
    .run = run,
};

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  return version < BIC_PLUGIN_VERSION ? 0 : &plugin;
}
