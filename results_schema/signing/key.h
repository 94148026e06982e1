#pragma once

#include <memory>
#include <string>
#include <string_view>

// OpenSSL's, so that its headers stay in one file.
struct evp_pkey_st;

namespace bic::signing {

enum class KeyType { kP256, kEd25519 };

/// "p256" or "ed25519", as --type takes it.
std::string_view name(KeyType type);

/// A key that checks signatures: ECDSA P-256 with SHA-256 (DER), or pure Ed25519.
class PublicKey {
 public:
  /// Reads a SubjectPublicKeyInfo PEM, without anything before or behind it. Throws UsageError that
  /// begins with `where` for any other kind, curve or form of key.
  static PublicKey from_pem(std::string_view pem, const std::string& where);

  KeyType type() const { return type_; }
  const std::string& pem() const { return pem_; }  ///< with its final newline

  /// The id by which securesystemslib finds a key: SHA-256 hex of the canonical JSON of its type,
  /// value and scheme.
  std::string keyid() const;

  /// The hint of a Sigstore bundle: SHA-256 hex of the PEM.
  std::string hint() const;

  /// Whether the signature is this key's over those bytes. False for what is no signature.
  bool made(std::string_view signature, std::string_view bytes) const;

 private:
  friend class PrivateKey;
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
  KeyType type_;
  std::string pem_;
};

/// A key that makes signatures.
class PrivateKey {
 public:
  /// Reads an unencrypted PEM (PKCS #8 or SEC 1). Throws UsageError that begins with `where`; never
  /// asks for a password.
  static PrivateKey from_pem(std::string_view pem, const std::string& where);

  static PrivateKey generate(KeyType type);

  std::string pem() const;  ///< PKCS #8
  PublicKey public_key() const { return PublicKey(key_); }

  /// ECDSA signatures differ each time; those of Ed25519 do not.
  std::string sign(std::string_view bytes) const;

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace bic::signing
