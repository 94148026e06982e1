#pragma once

#include <memory>

namespace bic::libtorch {

/// Defines ATen operators for as long as it lives, the whole policy each, built of ATen's operators
/// on the device of what they are given, so that a backend's kernels run inside them:
///
///   bic::pi0(pixel_values, input_ids, attention_mask, proprios, noise, preset)
///   bic::pi0_openpi(pixel_values, image_mask, input_ids, attention_mask, state, noise, preset)
///
/// and `.text` of both, with `text_ids` (int64 [B, slots]) and `lengths` (int64 [B]) in the place
/// of ids and mask: the images' tokens are put before, what is behind a text's length is padding.
///
/// All return the action before any clip: [B, tokens, dims] in the dtype of pixel_values, which is
/// that of the model; openpi in bf16 is in mixed precision and returns fp32. openpi's pixel_values
/// are [B, images, 3, H, W]. The weights are the synthetic ones of that preset, made at the first
/// call and kept until another set is asked for. Further arguments, by name: `weights=DTYPE` is
/// the dtype to which weights and the model's constants are rounded, so that fp64 inputs give the
/// value without the rounding of its arithmetic; `reuse_prefix=False` evaluates the prefix again in
/// every step; `order="reversed"` sums over the hidden units in another order (hidden_order.h);
/// `checkpoint="PATH"` takes the weights from files (checkpoint.h) in the place of synthetic ones;
/// of
/// `.text`, `wipe=False` leaves what the masks hide as it is given, instead of pad ids behind a
/// text's length and zeros in the place of missing cameras. Throws UsageError for a wrong preset,
/// shape or dtype.
class Pi0Operators {
 public:
  Pi0Operators();
  ~Pi0Operators();
  Pi0Operators(const Pi0Operators&) = delete;
  Pi0Operators& operator=(const Pi0Operators&) = delete;

 private:
  struct Libraries;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace bic::libtorch
