#include "results_schema/signing/statement.h"

#include <set>

#include "results_schema/json.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;

constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";

Artifact subject_in(const json& object) {
  const auto text = [&](const json::json_pointer& at) {
    const bool there = object.is_object() && object.contains(at) && object.at(at).is_string();
    return there ? object.at(at).get<std::string>() : "";
  };
  const Artifact subject{.name = text(json::json_pointer("/name")),
                         .sha256 = text(json::json_pointer("/digest/sha256"))};
  if (subject.name.empty() || !is_sha256(subject.sha256)) {
    throw Refusal("statement", "a subject has no name or no SHA-256");
  }
  return subject;
}

std::vector<Artifact> subjects_in(const json& statement) {
  const auto at = statement.find("subject");
  if (at == statement.end() || !at->is_array() || at->empty()) {
    throw Refusal("statement", "it has no subject");
  }
  std::vector<Artifact> subjects;
  std::set<std::string> names;
  for (const json& object : *at) {
    subjects.push_back(subject_in(object));
    if (!names.insert(subjects.back().name).second) {
      throw Refusal("statement",
                    "subject " + json(subjects.back().name).dump() + " is there twice");
    }
  }
  return subjects;
}

const json& member(const json& predicate, const std::string& place, bool (json::*is)() const) {
  const json::json_pointer at(place);
  if (!predicate.contains(at) || !(predicate.at(at).*is)()) {
    throw Refusal("predicate", place + " is not there or not of its type");
  }
  return predicate.at(at);
}

}  // namespace

json descriptor(const Artifact& artifact) {
  return {{"name", artifact.name}, {"digest", {{"sha256", artifact.sha256}}}};
}

std::string statement_text(const Statement& statement) {
  json subjects = json::array();
  for (const Artifact& subject : statement.subjects) subjects.push_back(descriptor(subject));
  return canonical_json({{"_type", kStatementType},
                         {"subject", subjects},
                         {"predicateType", statement.predicate_type},
                         {"predicate", statement.predicate}});
}

Statement read_statement(std::string_view payload) {
  json object;
  try {
    object = read_json(payload, "payload");
  } catch (const UsageError& error) {
    throw Refusal("statement", error.what());
  }
  const auto is = [&](const char* name, json::value_t type) {
    return object.contains(name) && object[name].type() == type;
  };
  if (!object.is_object() || !is("_type", json::value_t::string) ||
      object["_type"] != kStatementType) {
    throw Refusal("statement", "its _type is not " + std::string(kStatementType));
  }
  if (!is("predicateType", json::value_t::string) || !is("predicate", json::value_t::object)) {
    throw Refusal("statement", "it has no predicate");
  }
  return {.subjects = subjects_in(object),
          .predicate_type = object["predicateType"].get<std::string>(),
          .predicate = std::move(object["predicate"])};
}

std::string text_at(const json& predicate, const std::string& place) {
  return member(predicate, place, &json::is_string).get<std::string>();
}

std::int64_t number_at(const json& predicate, const std::string& place) {
  return member(predicate, place, &json::is_number_integer).get<std::int64_t>();
}

std::string digest_at(const json& predicate, const std::string& place) {
  std::string digest = text_at(predicate, place);
  if (!is_sha256(digest)) throw Refusal("predicate", place + " is no SHA-256");
  return digest;
}

}  // namespace bic::signing
