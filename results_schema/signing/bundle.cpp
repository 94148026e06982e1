#include "results_schema/signing/bundle.h"

#include <nlohmann/json.hpp>

#include "results_schema/json.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;

constexpr std::string_view kSigstoreType = "application/vnd.dev.sigstore.bundle.v0.3+json";
constexpr std::size_t kMostEnvelopes = 16;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The envelope inside a Sigstore bundle; the text itself when it is none.
std::string envelope_in(std::string_view text, const std::string& where) {
  if (text.find("\"dsseEnvelope\"") == text.npos) return std::string(text);
  try {
    const json bundle = read_json(text, where);
    if (bundle.value("mediaType", "") == kSigstoreType) {
      return canonical_json(bundle.at("dsseEnvelope"));
    }
  } catch (const UsageError& error) {
    throw Refusal("envelope", error.what());
  } catch (const json::exception&) {
  }
  throw Refusal("envelope", where + " is no Sigstore bundle of v0.3");
}

}  // namespace

std::string intoto_bundle(const std::vector<Envelope>& envelopes) {
  std::string text;
  for (const Envelope& envelope : envelopes) text += envelope_text(envelope) + "\n";
  return text;
}

std::string sigstore_bundle(const Envelope& envelope, const PublicKey& key) {
  return canonical_json({{"mediaType", kSigstoreType},
                         {"verificationMaterial",
                          {{"publicKey", {{"hint", key.hint()}}}, {"tlogEntries", json::array()}}},
                         {"dsseEnvelope", json::parse(envelope_text(envelope))}}) +
         "\n";
}

std::vector<Envelope> read_bundle(std::string_view text, const std::string& where) {
  if (text.size() > kLargestBundle) {
    throw Refusal("envelope", where + " has more than 64 MiB");
  }
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty() || lines.size() > kMostEnvelopes) {
    throw Refusal("envelope",
                  where + " has " + std::to_string(lines.size()) + " envelopes; from 1 to " +
                      std::to_string(kMostEnvelopes) + " are read");
  }
  std::vector<Envelope> envelopes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = where + " line " + std::to_string(i + 1);
    envelopes.push_back(read_envelope(envelope_in(lines[i], line), line));
  }
  return envelopes;
}

}  // namespace bic::signing
