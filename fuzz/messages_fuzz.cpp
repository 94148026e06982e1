// The JSON of one frame, behind the length that it has: what `frames` seldom gets to.

#include "fuzz/fuzz.h"
#include "fuzz/stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(size >> shift & 0xFF);
  bic::fuzz::read_stream(frame.append(bic::fuzz::text_of(bytes, size)));
  return 0;
}
