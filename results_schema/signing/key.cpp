#include "results_schema/signing/key.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <optional>

#include "results_schema/error.h"
#include "results_schema/sha256.h"

namespace bic::signing {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

// Bytes of the SubjectPublicKeyInfo with a named curve and an uncompressed point: the one form that
// all clients write, so that a key has one text and one id.
constexpr int kP256Bytes = 91, kEd25519Bytes = 44;

void require(bool worked, const char* what) {
  if (!worked) throw HarnessError(std::string("signing: OpenSSL could not ") + what);
}

Key owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::optional<KeyType> type_of(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "ED25519") == 1) return KeyType::kEd25519;
  std::array<char, 64> curve{};
  std::size_t length = 0;
  const bool p256 = EVP_PKEY_is_a(key, "EC") == 1 &&
                    EVP_PKEY_get_group_name(key, curve.data(), curve.size(), &length) == 1 &&
                    std::string_view(curve.data(), length) == "prime256v1";
  return p256 ? std::optional(KeyType::kP256) : std::nullopt;
}

/// Throws UsageError unless it is a key of ours.
Key checked(EVP_PKEY* raw, const char* kind, const std::string& where) {
  Key key = owned(raw);
  ERR_clear_error();
  if (key == nullptr) {
    throw UsageError(where + ": no " + kind + " key in PEM; bi-conform keygen makes one");
  }
  if (!type_of(key.get())) {
    throw UsageError(where + ": the key is neither ECDSA P-256 nor Ed25519");
  }
  if (i2d_PUBKEY(key.get(), nullptr) !=
      (type_of(key.get()) == KeyType::kP256 ? kP256Bytes : kEd25519Bytes)) {
    throw UsageError(where + ": the key's curve or point is not in its plain form");
  }
  return key;
}

Bio reader(std::string_view text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  require(bio != nullptr, "allocate");
  return bio;
}

template <class Write>
std::string pem_text(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  require(bio != nullptr && write(bio.get()) == 1, "write a key");
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

/// A password is never asked for: a program in a build has nobody to answer.
int no_password(char*, int, int, void*) { return -1; }

const EVP_MD* digest_of(KeyType type) { return type == KeyType::kP256 ? EVP_sha256() : nullptr; }

std::string hex_of_raw(const EVP_PKEY* key) {
  std::array<unsigned char, 32> raw{};
  std::size_t length = raw.size();
  require(EVP_PKEY_get_raw_public_key(key, raw.data(), &length) == 1, "read a key");
  std::string text;
  for (const unsigned char byte : raw) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

std::string_view name(KeyType type) { return type == KeyType::kP256 ? "p256" : "ed25519"; }

PublicKey::PublicKey(Key key)
    : key_(std::move(key)),
      type_(type_of(key_.get()).value()),
      pem_(pem_text([&](BIO* bio) { return PEM_write_bio_PUBKEY(bio, key_.get()); })) {}

PublicKey PublicKey::from_pem(std::string_view pem, const std::string& where) {
  PublicKey key(checked(
      PEM_read_bio_PUBKEY(reader(pem).get(), nullptr, no_password, nullptr), "public", where));
  // A policy shows what it trusts and nothing else.
  if (key.pem() != pem && key.pem() != std::string(pem) + "\n") {
    throw UsageError(where + ": there is more than one public key in PEM, or it is not as written");
  }
  return key;
}

std::string PublicKey::keyid() const {
  // Canonical JSON of OLPC escapes only quotes and backslashes: the PEM's newlines stand as they
  // are.
  const bool ec = type_ == KeyType::kP256;
  return sha256_hex(std::string(R"({"keytype":")") + (ec ? "ecdsa" : "ed25519") +
                    R"(","keyval":{"public":")" + (ec ? pem_ : hex_of_raw(key_.get())) +
                    R"("},"scheme":")" + (ec ? "ecdsa-sha2-nistp256" : "ed25519") + R"("})");
}

std::string PublicKey::hint() const { return sha256_hex(pem_); }

bool PublicKey::made(std::string_view signature, std::string_view bytes) const {
  const DigestContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  require(context && EVP_DigestVerifyInit(
                         context.get(), nullptr, digest_of(type_), nullptr, key_.get()) == 1,
          "begin to verify");
  const int answer = EVP_DigestVerify(
      context.get(), bytes_of(signature), signature.size(), bytes_of(bytes), bytes.size());
  ERR_clear_error();  // what is no signature at all leaves an error behind
  return answer == 1;
}

PrivateKey::PrivateKey(Key key) : key_(std::move(key)) {}

PrivateKey PrivateKey::from_pem(std::string_view pem, const std::string& where) {
  return PrivateKey(
      checked(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, no_password, nullptr),
              "unencrypted private",
              where));
}

PrivateKey PrivateKey::generate(KeyType type) {
  Key key = owned(type == KeyType::kP256 ? EVP_EC_gen("P-256")
                                         : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  require(key != nullptr, "make a key");
  return PrivateKey(std::move(key));
}

std::string PrivateKey::pem() const {
  return pem_text([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string PrivateKey::sign(std::string_view bytes) const {
  const DigestContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  require(context && EVP_DigestSignInit(context.get(),
                                        nullptr,
                                        digest_of(type_of(key_.get()).value()),
                                        nullptr,
                                        key_.get()) == 1,
          "begin to sign");
  std::size_t length = 0;
  require(EVP_DigestSign(context.get(), nullptr, &length, bytes_of(bytes), bytes.size()) == 1,
          "sign");
  std::string signature(length, '\0');
  require(EVP_DigestSign(context.get(),
                         reinterpret_cast<unsigned char*>(signature.data()),
                         &length,
                         bytes_of(bytes),
                         bytes.size()) == 1,
          "sign");
  signature.resize(length);
  return signature;
}

}  // namespace bic::signing
