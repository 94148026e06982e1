#pragma once

namespace bic::libtorch {

/// Makes the poisoning allocator ATen's CPU allocator, once for the process. Blocks are 64-byte
/// aligned, filled with poison and stand between guards (protocol/guarded.h); those made while
/// poison is off are neither filled nor guarded, but are freed alike. Safe from any thread.
void install_poison();

/// True while fresh blocks are filled and guarded; the default.
void set_poison(bool on);

/// Forgets the damage seen so far.
void forget_damage();

/// True when a guard of a living block is damaged, or one was when its block was freed since
/// `forget_damage`.
bool guards_damaged();

/// Poison is off for the life of it.
class PoisonOff {
 public:
  PoisonOff() { set_poison(false); }
  ~PoisonOff() { set_poison(true); }
  PoisonOff(const PoisonOff&) = delete;
  PoisonOff& operator=(const PoisonOff&) = delete;
};

}  // namespace bic::libtorch
