/* Kernels of your own under bi-conform, from C: a shared object that exports bi_conform_plugin is
 * judged by
 *   bi-conform --backend plugin:path/to/your.so --op mm
 * examples/mm.c is a whole one. C99, and nothing else is needed. With --lift its kernels take the
 * place of PyTorch's, and what PyTorch makes of them is judged too (docs/lift.md).
 *
 * Every struct begins with its size and the version of this header; whoever makes one sets both
 * (BIC_PLUGIN_STRUCT). Fields are only ever appended, and lists hold pointers, so that bi-conform
 * serves plug-ins of its own version and of those before. All memory belongs to its maker and is
 * valid until the call returns; what bi_conform_plugin returns, for the life of the process. */
#ifndef BI_CONFORM_PLUGIN_H
#define BI_CONFORM_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BIC_PLUGIN_VERSION 1u

/* First members of a struct: BIC_PLUGIN_STRUCT(struct bic_claim) as the first initializers. */
#define BIC_PLUGIN_STRUCT(type) (uint32_t)sizeof(type), BIC_PLUGIN_VERSION

/* Element types and devices have DLPack's numbers: bf16 is {BIC_BFLOAT, 16, 1}, fp16
 * {BIC_FLOAT, 16, 1}, indices are {BIC_INT, 64, 1}, masks {BIC_BOOL, 8, 1}. */
enum { BIC_INT = 0, BIC_UINT = 1, BIC_FLOAT = 2, BIC_BFLOAT = 4, BIC_BOOL = 6 };
enum { BIC_CPU = 1 };

struct bic_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/* A strided tensor, as DLTensor. Element (i, j) lies at
 *   (char *)data + byte_offset + (i * strides[0] + j * strides[1]) * bits / 8,
 * where data is aligned to 64 bytes. Strides are never null, count elements, and may leave gaps, be
 * transposed, or be 0 along an axis of an input. */
struct bic_tensor {
  uint32_t struct_size, version;
  const char* name; /* as in the op's declaration: "x", "w", "y" (docs/ops.md) */
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  struct bic_dtype dtype;
  int64_t* shape;
  const int64_t* strides;
  uint64_t byte_offset;
};

struct bic_attribute {
  uint32_t struct_size, version;
  const char* name;
  const char* text; /* "tanh", or the number as "%a" prints it */
  double number;    /* NaN when the text is none */
};

enum bic_form {
  BIC_FUNCTIONAL = 0, /* the output is fresh and dense */
  BIC_OUT = 1,        /* the output is the caller's: any strides, any offset */
  BIC_INPLACE = 2     /* the output is the input of the same data, as y and c in addmm_(c, x, w) */
};

/* One call. The output is given in every form; every byte of it is 0xFF before (but in place), and
 * so is a NaN that no operation makes. Write all of it, and nothing else: inputs and what lies
 * beside the tensors are watched. A plug-in that writes another shape or type than it finds there
 * says so by changing output->dtype, ->ndim and ->shape (ndim may only shrink). */
struct bic_call {
  uint32_t struct_size, version;
  const char* op;      /* "mm"; bi-conform list ops */
  const char* variant; /* "" for the default one (docs/ops.md) */
  const char* text;    /* the call as PyTorch users write it, for what the tensors do not say */
  int32_t form;        /* enum bic_form */
  int32_t threads;     /* the team to use where the work is done by more than one */
  int32_t attribute_count, input_count;
  const struct bic_attribute* const* attributes;
  const struct bic_tensor* const* inputs;
  struct bic_tensor* output;
  /* Set by the plug-in: its largest team. 0: all its threads come from OpenMP regions of libgomp,
   * which are seen. Left at -1 where none was seen, the team is unknown, and threads stay unproved.
   */
  int32_t team;
};

/* What the plug-in says that it can run, one for each op and type, before any input exists. An op
 * is claimed with all its variants and layouts. */
struct bic_claim {
  uint32_t struct_size, version;
  const char* op;
  struct bic_dtype dtype;
  struct bic_dtype accumulator; /* type of its sums: fp32 or fp64, or the op's own */
  int32_t elementary_ulps;      /* error of its exp, tanh, erf in units of the accumulator */
  int32_t flushes_subnormals;
  int32_t inplace;    /* BIC_INPLACE may be asked for */
  const char* form;   /* "" for the textbook one (docs/ops.md names the others) */
  const char* source; /* where this can be read: one line for the report */
};

struct bic_plugin {
  uint32_t struct_size, version;
  const char* name;    /* of the library, and */
  const char* release; /* its version: both are in the report */
  int32_t claim_count;
  const struct bic_claim* const* claims;
  /* 0 when the output was computed; negative when the call is declined, which is red for a claimed
   * op; positive when it failed. Called from one thread at a time. */
  int (*run)(struct bic_call* call);
  const char* (*last_error)(void); /* why the last run did not return 0: one line; may be null */
};

/* The one entry. `version` is the host's; null when the plug-in cannot serve it. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const struct bic_plugin*
bi_conform_plugin(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
