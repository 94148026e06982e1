#pragma once

#include <array>
#include <string_view>

namespace bic::decoder {

/// The decoders that have a name. Plain C++: a run names them without ATen.
inline constexpr std::array<std::string_view, 3> kPresets{"tiny", "tiny-ragged", "gemma-2b"};

}  // namespace bic::decoder
