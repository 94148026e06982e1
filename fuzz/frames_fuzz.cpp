// The bytes of the protocol's socket, lengths of frames included.

#include "fuzz/fuzz.h"
#include "fuzz/stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bic::fuzz::read_stream(std::string(bic::fuzz::text_of(bytes, size)));
  return 0;
}
