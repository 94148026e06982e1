#include "results_schema/signing/dsse.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results_schema/json.h"
#include "results_schema/signing/base64.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSignatures = 16;

const json& member(const json& object, const char* name, json::value_t type, const char* is) {
  const auto at = object.find(name);
  if (at == object.end() || at->type() != type) {
    throw Refusal("envelope", std::string(name) + " is not " + is);
  }
  return *at;
}

std::string text_in(const json& object, const char* name) {
  return member(object, name, json::value_t::string, "a text").get<std::string>();
}

std::string bytes_in(const json& object, const char* name) {
  if (auto bytes = from_base64(text_in(object, name))) return std::move(*bytes);
  throw Refusal("envelope",
                std::string(name) + " is not strict base64 (one alphabet, padded, nothing over)");
}

Signature signature_in(const json& object) {
  if (!object.is_object()) throw Refusal("envelope", "a signature is not an object");
  Signature signature{.keyid = "", .bytes = bytes_in(object, "sig")};
  if (object.contains("keyid")) signature.keyid = text_in(object, "keyid");
  return signature;
}

std::vector<Signature> signatures_in(const json& object) {
  const json& list = member(object, "signatures", json::value_t::array, "a list");
  if (list.empty() || list.size() > kMostSignatures) {
    throw Refusal("envelope",
                  std::to_string(list.size()) + " signatures; from 1 to " +
                      std::to_string(kMostSignatures) + " are read");
  }
  std::vector<Signature> signatures;
  for (const json& one : list) {
    signatures.push_back(signature_in(one));
    const auto same = [&](const Signature& s) { return s.bytes == signatures.back().bytes; };
    if (std::count_if(signatures.begin(), signatures.end(), same) > 1) {
      throw Refusal("envelope", "a signature is there twice");
    }
  }
  return signatures;
}

}  // namespace

std::string pre_authentication_encoding(std::string_view type, std::string_view body) {
  std::string text = "DSSEv1 " + std::to_string(type.size()) + " ";
  text.append(type).append(" ").append(std::to_string(body.size())).append(" ").append(body);
  return text;
}

Envelope seal(std::string payload, const PrivateKey& key) {
  const std::string bytes = key.sign(pre_authentication_encoding(kPayloadType, payload));
  return {std::string(kPayloadType), std::move(payload), {{key.public_key().keyid(), bytes}}};
}

std::string envelope_text(const Envelope& envelope) {
  json signatures = json::array();
  for (const Signature& s : envelope.signatures) {
    signatures.push_back({{"keyid", s.keyid}, {"sig", to_base64(s.bytes)}});
  }
  return canonical_json({{"payload", to_base64(envelope.payload)},
                         {"payloadType", envelope.payload_type},
                         {"signatures", signatures}});
}

Envelope read_envelope(std::string_view text, const std::string& where) {
  json object;
  try {
    object = read_json(text, where);
  } catch (const UsageError& error) {
    throw Refusal("envelope", error.what());
  }
  if (!object.is_object()) throw Refusal("envelope", where + " is not a JSON object");
  return {.payload_type = text_in(object, "payloadType"),
          .payload = bytes_in(object, "payload"),
          .signatures = signatures_in(object)};
}

const PublicKey* signer_of(const Envelope& envelope, const std::vector<PublicKey>& keys) {
  const std::string signed_bytes =
      pre_authentication_encoding(envelope.payload_type, envelope.payload);
  for (const PublicKey& key : keys) {
    for (const Signature& s : envelope.signatures) {
      if (key.made(s.bytes, signed_bytes)) return &key;
    }
  }
  return nullptr;
}

}  // namespace bic::signing
