// Envelopes, their statements, proofs and policies: refused in one line, or read and written as the
// same.
//
// No fuzzer makes a signature. So the input is read twice: as a file of envelopes, and as the
// payload of one that the policy's own key signs.

#include <string>

#include "fuzz/fuzz.h"
#include "results_schema/error.h"
#include "results_schema/signing/bundle.h"
#include "results_schema/signing/refusal.h"
#include "results_schema/signing/verify.h"

namespace {

using namespace bic::signing;
using bic::fuzz::require;

const PrivateKey& key() {
  static const PrivateKey kKey = PrivateKey::generate(KeyType::kEd25519);
  return kKey;
}

/// Every rule is asked; the one key may sign what the role allows.
const Policy& policy(bool certifies) {
  static const auto make = [](bool certifier) {
    Policy policy{.policy = "urn:fuzz", .suites = {"0.1.0"}, .strength = "quick"};
    (certifier ? policy.certifiers : policy.reporters).push_back(key().public_key());
    policy.report_days = policy.certificate_days = 3660;
    policy.policies = {std::string(64, '0')};
    return policy;
  };
  static const Policy kReports = make(false), kCertificates = make(true);
  return certifies ? kCertificates : kReports;
}

void verify_as(const std::vector<Envelope>& envelopes, bool certifies) {
  constexpr Seconds kNow = 1'767'400'000;
  try {
    const Answer answer =
        verify({.envelopes = envelopes,
                .policy = policy(certifies),
                .now = kNow,
                .proof = Proof{.record = {}, .leaf = std::string(64, '0'), .count = 1}});
    require(answer.keyid == key().public_key().keyid(), "only the policy's key is believed");
    require(answer.certificate.has_value() == certifies, "a key is believed in its role only");
  } catch (const Refusal& refusal) {
    bic::fuzz::require_one_line(refusal);
  }
}

void read_as_envelopes(std::string_view text) {
  try {
    const std::vector<Envelope> envelopes = read_bundle(text, "fuzz");
    const std::string written = intoto_bundle(envelopes);
    require(intoto_bundle(read_bundle(written, "fuzz")) == written, "envelopes read as written");
    report_name_in(envelopes);
    verify_as(envelopes, false);
  } catch (const Refusal& refusal) {
    bic::fuzz::require_one_line(refusal);
  }
}

template <class Read>
void read_as(Read read) {
  try {
    read();
  } catch (const bic::Error& error) {
    bic::fuzz::require_one_line(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = bic::fuzz::text_of(bytes, size);
  read_as_envelopes(text);
  const std::vector<Envelope> sealed{seal(std::string(text), key())};
  verify_as(sealed, false);
  verify_as(sealed, true);
  read_as([&] { read_policy(text, "fuzz"); });
  read_as([&] { read_proof(text, "fuzz"); });
  return 0;
}
