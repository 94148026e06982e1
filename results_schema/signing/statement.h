#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bic::signing {

/// Predicate types of the statements that are made and read here.
inline constexpr std::string_view kEvidenceType = "urn:bi-conform:report:v1";
inline constexpr std::string_view kTestResultType =
    "https://in-toto.io/attestation/test-result/v0.1";
inline constexpr std::string_view kCertificateType = "https://in-toto.io/attestation/svr/v0.2";

/// A file that a statement is about, by its bytes; the name is for people.
struct Artifact {
  std::string name;
  std::string sha256;
  auto operator<=>(const Artifact&) const = default;
};

/// An in-toto Statement v1.
struct Statement {
  std::vector<Artifact> subjects;  ///< at least one; no name twice
  std::string predicate_type;
  nlohmann::json predicate;
};

/// A ResourceDescriptor: name and digest.
nlohmann::json descriptor(const Artifact& artifact);

/// Its canonical JSON: what is signed.
std::string statement_text(const Statement& statement);

/// Reads a payload. Throws Refusal("statement") for any other `_type`, for subjects that are none,
/// have a name twice or no SHA-256, and for a predicate that is no object. Unknown members are
/// ignored, as in-toto asks.
Statement read_statement(std::string_view payload);

/// A member somewhere inside a predicate, as "/bi_conform/suite". Throws Refusal("predicate") when
/// it is not there or of another type.
std::string text_at(const nlohmann::json& predicate, const std::string& place);
std::int64_t number_at(const nlohmann::json& predicate, const std::string& place);
/// Also when it is not 64 lower-case hex digits.
std::string digest_at(const nlohmann::json& predicate, const std::string& place);

}  // namespace bic::signing
