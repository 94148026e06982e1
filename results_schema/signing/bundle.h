#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results_schema/signing/dsse.h"

namespace bic::signing {

/// Envelopes as an in-toto bundle, `<name>.intoto.jsonl`: one a line.
std::string intoto_bundle(const std::vector<Envelope>& envelopes);

/// One envelope as a Sigstore bundle v0.3 without a transparency log, `<name>.sigstore.json`.
std::string sigstore_bundle(const Envelope& envelope, const PublicKey& key);

/// The most that is read of a file of envelopes.
inline constexpr std::size_t kLargestBundle = std::size_t{64} << 20;

/// The envelopes of a file of either kind. Throws Refusal("envelope") when it holds none, more than
/// 16, or something else.
std::vector<Envelope> read_bundle(std::string_view text, const std::string& where);

}  // namespace bic::signing
