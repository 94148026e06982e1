#pragma once

#include <string>

namespace bic::fuzz {

/// Reads what one side of the protocol wrote into its socket, and each frame's JSON as every
/// message of both directions. One that is accepted is written as JSON that reads as itself; all
/// else must be refused by HarnessError or json::exception, which both sides catch. Ends the
/// program when that does not hold. What goes beyond 64 KiB is dropped: a socket must take it
/// before anybody reads.
void read_stream(const std::string& bytes);

}  // namespace bic::fuzz
