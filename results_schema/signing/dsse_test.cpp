#include "results_schema/signing/dsse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/sha256.h"
#include "results_schema/signing/base64.h"
#include "results_schema/signing/bundle.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using testing::HasSubstr;

constexpr auto kType = "http://example.com/HelloWorld";
constexpr auto kBody = "hello world";

// Key and signature of the example in the DSSE protocol, which is r and s side by side.
constexpr auto kExampleKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZ805D3eqNZywjCI19lInBJOp7YMr\n"
    "CrzAH3CVTAOQ0jgMeCvVTiaRJaRPRDOv8UMs6U4SvKc6pnrIDOoSYI3fdA==\n"
    "-----END PUBLIC KEY-----\n";
constexpr auto kExampleSignature =
    "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==";

TEST(Dsse, HasTheEncodingOfTheProtocol) {
  const std::string text = pre_authentication_encoding(kType, kBody);
  EXPECT_EQ(text, "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  EXPECT_EQ(sha256_hex(text), "217751fac2c4f14edb2c9297fbc34abcb016ba88e74757e875ec4ac16fb6b6a1");
  EXPECT_EQ(pre_authentication_encoding("", ""), "DSSEv1 0  0 ");
  EXPECT_EQ(pre_authentication_encoding("t", "\xc3\xa9"), "DSSEv1 1 t 2 \xc3\xa9") << "bytes";
}

TEST(Dsse, TakesTheExampleInDerOnly) {
  const std::vector<PublicKey> keys{PublicKey::from_pem(kExampleKey, "example")};
  const std::string raw = from_base64(kExampleSignature).value();
  // r begins with 0x03 and s with 0x51: as DER integers neither needs a byte in front.
  const std::string der =
      std::string("\x30\x44\x02\x20", 4) + raw.substr(0, 32) + "\x02\x20" + raw.substr(32);
  EXPECT_EQ(signer_of({kType, kBody, {{"", raw}}}, keys), nullptr);
  EXPECT_EQ(signer_of({kType, kBody, {{"", der}}}, keys), &keys[0]);
  EXPECT_EQ(signer_of({kType, "hello World", {{"", der}}}, keys), nullptr);
  EXPECT_EQ(signer_of({kType, kBody, {{"", der + '\0'}}}, keys), nullptr) << "a byte behind";
}

TEST(Dsse, ReadsWhatItSeals) {
  for (const KeyType type : {KeyType::kP256, KeyType::kEd25519}) {
    const PrivateKey key = PrivateKey::generate(type);
    const std::vector<PublicKey> keys{PrivateKey::generate(type).public_key(), key.public_key()};
    const Envelope sealed = seal("{}", key);
    const Envelope read = read_envelope(envelope_text(sealed), "envelope");
    EXPECT_EQ(read.payload, "{}");
    EXPECT_EQ(read.payload_type, kPayloadType);
    EXPECT_EQ(read.signatures.at(0).keyid, key.public_key().keyid());
    EXPECT_EQ(signer_of(read, keys), &keys[1]);
    EXPECT_EQ(signer_of(read, {keys[0]}), nullptr);
  }
}

TEST(Dsse, TakesAnyOfSeveralSignaturesWhateverTheirKeyids) {
  const PrivateKey key = PrivateKey::generate(KeyType::kEd25519);
  const std::vector<PublicKey> keys{key.public_key()};
  Envelope envelope = seal("{}", key);
  envelope.signatures[0].keyid = "of somebody else";
  envelope.signatures.insert(envelope.signatures.begin(),
                             Signature{keys[0].keyid(), "no signature"});
  EXPECT_EQ(signer_of(read_envelope(envelope_text(envelope), "envelope"), keys), &keys[0]);
}

std::string refusal_of(const std::string& text) {
  try {
    read_bundle(text, "file");
    return "";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.code(), ExitCode::kSignature);
    return refusal.what();
  }
}

TEST(Dsse, RefusesWhatIsNoEnvelopeInOneLine) {
  const std::string sig = R"({"sig":"AAAA"})";
  const auto envelope = [&](const std::string& signatures, const std::string& more = "") {
    return R"({"payload":"e30=","payloadType":"t","signatures":[)" + signatures + "]" + more + "}";
  };
  EXPECT_EQ(refusal_of(envelope(sig)), "");
  EXPECT_EQ(refusal_of(envelope(sig, R"(,"unknown":{"x":1})")), "") << "ignored, as DSSE asks";
  std::string many = sig;
  for (int i = 0; i < 16; ++i)
    many += R"(,{"sig":"AAA)" + std::string(1, static_cast<char>('B' + i)) + "\"}";
  const std::pair<std::string, const char*> wrongs[] = {
      {"", "0 envelopes"},
      {"\n\n", "0 envelopes"},
      {"[]", "not a JSON object"},
      {envelope(""), "0 signatures"},
      {envelope(many), "17 signatures"},
      {envelope(sig + "," + sig), "twice"},
      {envelope("1"), "not an object"},
      {envelope("{}"), "sig is not a text"},
      {envelope(R"({"sig":"A"})"), "strict base64"},
      {envelope(R"({"sig":"AAAA","keyid":1})"), "keyid is not a text"},
      {envelope(sig, R"(,"payload":"e30=")"), "twice"},
      {envelope(sig, R"(,"x":1.5)"), "1.5"},
      {envelope(sig) + "x", "not JSON"},
      {envelope(sig) + "{}", "not JSON"},
      {R"({"payload":"e30=","signatures":[]})", "payloadType is not a text"},
      {std::string(70, '['), "nested deeper"},
      {R"({"dsseEnvelope":{}})", "no Sigstore bundle"},
      {std::string(kLargestBundle + 1, ' '), "64 MiB"}};
  for (const auto& [text, part] : wrongs) {
    const std::string line = refusal_of(text);
    EXPECT_THAT(line, testing::StartsWith("envelope: ")) << text.substr(0, 100);
    EXPECT_THAT(line, HasSubstr(part));
    EXPECT_EQ(line.find('\n'), line.npos);
  }
}

TEST(Bundle, HoldsTheSameEnvelopeInBothKinds) {
  const PrivateKey key = PrivateKey::generate(KeyType::kP256);
  const Envelope envelope = seal("{}", key);
  const std::string sigstore = sigstore_bundle(envelope, key.public_key());
  EXPECT_THAT(sigstore, HasSubstr(sha256_hex(key.public_key().pem())));
  for (const std::string& text : {intoto_bundle({envelope, envelope}), sigstore}) {
    EXPECT_EQ(envelope_text(read_bundle(text, "file").at(0)), envelope_text(envelope));
  }
}

}  // namespace
}  // namespace bic::signing
