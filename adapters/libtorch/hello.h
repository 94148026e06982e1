#pragma once

#include <map>
#include <string>
#include <vector>

namespace bic::libtorch {

/// Versions of torch and of the libraries in it, and every setting known to change a bit.
std::map<std::string, std::string> fingerprint();

/// Paths of the subject's shared objects in this process: torch, this library and OpenMP's runtime.
std::vector<std::string> mapped_libraries();

/// Threads are what a trial says, never fewer because a library thinks so. Call it before the first
/// parallel region; the environment says the same to libraries that read it later.
void forbid_dynamic_threads();

}  // namespace bic::libtorch
