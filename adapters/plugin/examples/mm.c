/* A plug-in that implements mm in fp32: y[i,j] = sum over k of x[i,k] w[k,j].
 *   cc -std=c99 -O2 -shared -fPIC -I adapters/plugin -o mm.so adapters/plugin/examples/mm.c
 *   bi-conform --backend plugin:mm.so --op mm --dtype fp32
 * Each output is one sum over k in order, so nothing else in the batch can enter it. */
#include <string.h>

#include "bi_conform_plugin.h"

static const char* error = "";

static float* element(const struct bic_tensor* t, int64_t i, int64_t j) {
  return (float*)((char*)t->data + t->byte_offset) + i * t->strides[0] + j * t->strides[1];
}

static int mm(struct bic_call* call) {
  const struct bic_tensor *x = call->inputs[0], *w = call->inputs[1], *y = call->output;
  for (int64_t i = 0; i < y->shape[0]; ++i) {
    for (int64_t j = 0; j < y->shape[1]; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < x->shape[1]; ++k) sum += *element(x, i, k) * *element(w, k, j);
      *element(y, i, j) = sum;
    }
  }
  call->team = 1;
  return 0;
}

static int run(struct bic_call* call) {
  if (strcmp(call->op, "mm") == 0 && call->output->dtype.bits == 32) return mm(call);
  error = "only mm in fp32 is implemented";
  return -1;
}

static const char* last_error(void) { return error; }

static const struct bic_claim mm_fp32 = {
    BIC_PLUGIN_STRUCT(struct bic_claim),
    .op = "mm",
    .dtype = {BIC_FLOAT, 32, 1},
    .accumulator = {BIC_FLOAT, 32, 1},
    .form = "",
    .source = "examples/mm.c: one fp32 sum in the order of k",
};
static const struct bic_claim* const claims[] = {&mm_fp32};

static const struct bic_plugin plugin = {
    BIC_PLUGIN_STRUCT(struct bic_plugin),
    .name = "example-mm",
    .release = "1",
    .claim_count = 1,
    .claims = claims,
    .run = run,
    .last_error = last_error,
};

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  return version < BIC_PLUGIN_VERSION ? 0 : &plugin;
}
