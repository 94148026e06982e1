/* A plug-in that implements mm, bmm and addmm in fp32: all that PyTorch's linear and matmul of
 * matrices are made of.
 *   bi-conform --backend plugin:products.so --lift --op linear --dtype fp32
 * Each output is one sum over k in order. With SPLIT_BELOW n, products of fewer than n rows are made
 * of two sums, which is what bi-conform is there to find. */
#include <string.h>

#include "bi_conform_plugin.h"

#ifndef SPLIT_BELOW
#define SPLIT_BELOW 0
#endif

/* One matrix of a tensor of two or three axes. */
struct matrix {
  float* first;
  int64_t rows, columns, row_stride, column_stride;
};

static struct matrix matrix(const struct bic_tensor* t, int64_t index) {
  const int stacked = t->ndim - 2;
  float* const first = (float*)((char*)t->data + t->byte_offset);
  return (struct matrix){first + (stacked ? index * t->strides[0] : 0),
                         t->shape[stacked],
                         t->shape[stacked + 1],
                         t->strides[stacked],
                         t->strides[stacked + 1]};
}

static float sum(struct matrix x, struct matrix w, int64_t i, int64_t j, int64_t from, int64_t to) {
  const float *a = x.first + i * x.row_stride, *b = w.first + j * w.column_stride;
  float all = 0;
  for (int64_t k = from; k < to; ++k) all += a[k * x.column_stride] * b[k * w.row_stride];
  return all;
}

static float product(struct matrix x, struct matrix w, int64_t i, int64_t j) {
  if (x.rows >= SPLIT_BELOW) return sum(x, w, i, j, 0, x.columns);
  const int64_t half = x.columns / 2;
  return sum(x, w, i, j, 0, half) + sum(x, w, i, j, half, x.columns);
}

static float attribute(const struct bic_call* call, const char* name) {
  for (int i = 0; i < call->attribute_count; ++i) {
    if (strcmp(call->attributes[i]->name, name) == 0) return (float)call->attributes[i]->number;
  }
  return 1;
}

/* c is a matrix, or one row for all. */
static float added(const struct bic_tensor* c, int64_t i, int64_t j) {
  const float* const first = (const float*)((const char*)c->data + c->byte_offset);
  return c->ndim == 1 ? first[j * c->strides[0]] : first[i * c->strides[0] + j * c->strides[1]];
}

static int run(struct bic_call* call) {
  const struct bic_tensor* c = strcmp(call->op, "addmm") == 0 ? call->inputs[2] : 0;
  const float alpha = attribute(call, "alpha"), beta = attribute(call, "beta");
  const int64_t count = call->output->ndim == 3 ? call->output->shape[0] : 1;
  for (int64_t b = 0; b < count; ++b) {
    const struct matrix x = matrix(call->inputs[0], b), w = matrix(call->inputs[1], b);
    const struct matrix y = matrix(call->output, b);
    for (int64_t i = 0; i < y.rows; ++i) {
      for (int64_t j = 0; j < y.columns; ++j) {
        float value = product(x, w, i, j);
        if (c) value = alpha * value + beta * added(c, i, j);
        y.first[i * y.row_stride + j * y.column_stride] = value;
      }
    }
  }
  call->team = 1;
  return 0;
}

#define CLAIM(OP, INPLACE)                             \
  {                                                    \
      BIC_PLUGIN_STRUCT(struct bic_claim),             \
      .op = OP,                                        \
      .dtype = {BIC_FLOAT, 32, 1},                     \
      .accumulator = {BIC_FLOAT, 32, 1},               \
      .inplace = INPLACE,                              \
      .form = "",                                      \
      .source = "examples/products.c: one fp32 sum",   \
  }
static const struct bic_claim claims[] = {CLAIM("mm", 0), CLAIM("bmm", 0), CLAIM("addmm", 1)};
static const struct bic_claim* const table[] = {&claims[0], &claims[1], &claims[2]};

static const struct bic_plugin plugin = {
    BIC_PLUGIN_STRUCT(struct bic_plugin),
    .name = "example-products",
    .release = "1",
    .claim_count = 3,
    .claims = table,
    .run = run,
};

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  return version < BIC_PLUGIN_VERSION ? 0 : &plugin;
}
