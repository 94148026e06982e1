#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results_schema/signing/key.h"

namespace bic::signing {

/// The only payload type here.
inline constexpr std::string_view kPayloadType = "application/vnd.in-toto+json";

/// What a DSSE 1.0.2 signature is made over: type and body with their lengths in bytes.
std::string pre_authentication_encoding(std::string_view type, std::string_view body);

/// One signature of an envelope. Nothing vouches for `keyid`: it only says which key to try.
struct Signature {
  std::string keyid;
  std::string bytes;
};

/// A DSSE envelope whose base64 is decoded.
struct Envelope {
  std::string payload_type;
  std::string payload;  ///< the very bytes that are signed
  std::vector<Signature> signatures;
};

/// An envelope of `payload` with one signature.
Envelope seal(std::string payload, const PrivateKey& key);

/// JSON of one line, without its newline; keys sorted, standard base64.
std::string envelope_text(const Envelope& envelope);

/// Reads it. Members that DSSE does not know are ignored, as it asks. Throws Refusal for what is no
/// envelope: a key twice, a float, text behind it, base64 that is not strict (see base64.h), no or
/// more than 16 signatures, two with the same bytes.
Envelope read_envelope(std::string_view text, const std::string& where);

/// The first key that made one of the signatures; null when none did. Type and payload are taken
/// as they were received, keyids are not looked at.
const PublicKey* signer_of(const Envelope& envelope, const std::vector<PublicKey>& keys);

}  // namespace bic::signing
