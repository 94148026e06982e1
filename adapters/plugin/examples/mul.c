/* A plug-in that implements mul in fp32 for any shapes that broadcast, in place too:
 * y = x o, where an axis of o may be missing on the left or have one element.
 *   bi-conform --backend plugin:mul.so --op mul --dtype fp32 */
#include "bi_conform_plugin.h"

#ifndef MUL_INPLACE
#define MUL_INPLACE 1
#endif

static float* first(const struct bic_tensor* t) {
  return (float*)((char*)t->data + t->byte_offset);
}

/* Stride of an operand along `axis` of the output: 0 where it has one element for all of them. */
static int64_t stride(const struct bic_tensor* t, const struct bic_tensor* y, int axis) {
  const int own = axis - (y->ndim - t->ndim);
  return own < 0 || t->shape[own] == 1 ? 0 : t->strides[own];
}

/* In place y is x: each element is read once, before it is written. */
static void multiply(const struct bic_call* call, int axis, float* y, float* x, float* o) {
  const struct bic_tensor* to = call->output;
  if (axis == to->ndim) {
    *y = *x * *o;
    return;
  }
  const int64_t along_x = stride(call->inputs[0], to, axis);
  const int64_t along_o = stride(call->inputs[1], to, axis);
  for (int64_t i = 0; i < to->shape[axis]; ++i) {
    multiply(call, axis + 1, y + i * to->strides[axis], x + i * along_x, o + i * along_o);
  }
}

static int run(struct bic_call* call) {
  multiply(call, 0, first(call->output), first(call->inputs[0]), first(call->inputs[1]));
  call->team = 1;
  return 0;
}

static const struct bic_claim mul_fp32 = {
    BIC_PLUGIN_STRUCT(struct bic_claim),
    .op = "mul",
    .dtype = {BIC_FLOAT, 32, 1},
    .accumulator = {BIC_FLOAT, 32, 1},
    .inplace = MUL_INPLACE,
    .form = "",
    .source = "examples/mul.c: one product",
};
static const struct bic_claim* const claims[] = {&mul_fp32};

static const struct bic_plugin plugin = {
    BIC_PLUGIN_STRUCT(struct bic_plugin),
    .name = "example-mul",
    .release = "1",
    .claim_count = 1,
    .claims = claims,
    .run = run,
};

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  return version < BIC_PLUGIN_VERSION ? 0 : &plugin;
}
