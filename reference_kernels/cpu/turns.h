#pragma once

namespace bic::cpu {

/// x = quadrant * pi / 2 + hi + lo, but for whole turns, with |hi| <= pi / 4; the quadrant is 0
/// to 3.
struct Turn {
  double hi, lo;
  int quadrant;
};

/// For finite |x| >= 1 of any size; hi + lo has a relative error below 2^-70.
Turn reduce_turns(double x);

}  // namespace bic::cpu
