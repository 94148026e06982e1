#include "results_schema/signing/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/error.h"

namespace bic::signing {
namespace {

using testing::HasSubstr;

// Made by OpenSSL's command line.
constexpr auto kEd25519 =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAUV0bAk9AC3nKjPpVMlaPNcwnu++iunaFGN/O2dltmZE=\n"
    "-----END PUBLIC KEY-----\n";
constexpr auto kRsa =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAttUjU697y830mh0l9qyh\n"
    "Bmh8vijY0Nz4dEGwjyqp+KCywkrJp8OIh3NRG/Z5JLwMvvQD9Yc3DGc6qPwZ63i6\n"
    "AyMLL9oQXJbBSMRtmriIX1e2LaOBWw3M332fjAORL2WWYf1mgchEma9ZUHfnM4iK\n"
    "7oFeOhE1DA/1nyozxDq4+ee0/TgxbWb+bBIBV8iz2ufvh0gAAG0HWu7azS9tZ/Ck\n"
    "vQUcEHNGN99ouCF7Iu2i80kbjv8F5OqEzQUbu6/k+EpIXoFbHdzBSVJ6Rwt13ig+\n"
    "OkKyagvaa+9wZ4RcajPGxQpR/GSo6xRsE6v/ZRIIzeY9gGKVIliVQdOc/RgC0UeM\n"
    "nQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";
constexpr auto kP384 =
    "-----BEGIN PUBLIC KEY-----\n"
    "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEQb8mgeHwNhtH+OLwf2gHchbOsqneOP8m\n"
    "8i9JhBBhxpuuKBWtAAaJq+7ze3gLGFqQ03x1aNUMNJB+KVWneyk+RCk9sFnKIKOq\n"
    "eFX4oxB0IAN1/FqRM5mTxcKJxztZT9gf\n"
    "-----END PUBLIC KEY-----\n";
constexpr auto kCompressed =
    "-----BEGIN PUBLIC KEY-----\n"
    "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACbCyiv5xGI0bQxIav0SqeUts6xJ7T\n"
    "84YnDq81xFyjPuQ=\n"
    "-----END PUBLIC KEY-----\n";
constexpr auto kEncrypted =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi46tghfto+XQICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEENwu5/BHy6egzE+21+l7ZzQEgZCa\n"
    "7kDwav6HiJHL0AJHxTkNc6VjbBdv4k6dCv4EZ7/9Aus5YBs1n6yreeREg3r1C3mX\n"
    "Q4JfAEeZ8eU3U04ev4JnVzHzcAcs+bqA2DQiS/4a6p+df8VE8TwL3rsTHsqZT8t0\n"
    "Vz/kgHjAzZnu28QAPo7eXRoq11ajaBgCrKVX4JA/brauStjdkUa5E3xuObS1IGg=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

std::string refusal_of(const std::string& pem) {
  try {
    PublicKey::from_pem(pem, "policy: reporters 1");
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(PublicKey, HasTheIdOfSecuresystemslib) {
  EXPECT_EQ(PublicKey::from_pem(kEd25519, "key").keyid(),
            "b782057315918dd2e891a51d6ff7746a3a13b4996bc5633c2b5f015bcc83265e");
}

TEST(PublicKey, IsReadWithOrWithoutItsLastNewlineButNothingElse) {
  const std::string pem = kEd25519;
  EXPECT_EQ(refusal_of(pem), "");
  EXPECT_EQ(refusal_of(pem.substr(0, pem.size() - 1)), "");
  EXPECT_EQ(PublicKey::from_pem(pem.substr(0, pem.size() - 1), "key").pem(), pem);
  for (const std::string& text : {pem + pem, "# mine\n" + pem, pem + "\n", pem + "x"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("more than one public key"));
  }
}

TEST(PublicKey, OfAnotherKindOrFormIsRefused) {
  EXPECT_THAT(refusal_of(""), HasSubstr("policy: reporters 1: no public key in PEM"));
  EXPECT_THAT(refusal_of(PrivateKey::generate(KeyType::kP256).pem()), HasSubstr("no public key"));
  EXPECT_THAT(refusal_of(kRsa), HasSubstr("neither ECDSA P-256 nor Ed25519"));
  EXPECT_THAT(refusal_of(kP384), HasSubstr("neither ECDSA P-256 nor Ed25519"));
  EXPECT_THAT(refusal_of(kCompressed), HasSubstr("not in its plain form"));
}

TEST(PrivateKey, OfAPasswordIsRefusedWithoutAsking) {
  EXPECT_THROW(PrivateKey::from_pem(kEncrypted, "--key"), UsageError);
  EXPECT_THROW(PrivateKey::from_pem(kEd25519, "--key"), UsageError);
}

TEST(PrivateKey, SignsSoThatItsPublicKeySeesEachChange) {
  for (const KeyType type : {KeyType::kP256, KeyType::kEd25519}) {
    const PrivateKey key = PrivateKey::from_pem(PrivateKey::generate(type).pem(), "key");
    const PublicKey shown = PublicKey::from_pem(key.public_key().pem(), "key");
    std::string signature = key.sign("text");
    EXPECT_TRUE(shown.made(signature, "text"));
    EXPECT_FALSE(shown.made(signature, "texs"));
    EXPECT_FALSE(shown.made("", "text"));
    EXPECT_FALSE(PrivateKey::generate(type).public_key().made(signature, "text"));
    for (char& byte : signature) {
      byte ^= 1;
      EXPECT_FALSE(shown.made(signature, "text"));
      byte ^= 1;
    }
  }
}

}  // namespace
}  // namespace bic::signing
