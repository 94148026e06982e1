#include <algorithm>

#include "results_schema/signing/certificate.h"
#include "results_schema/signing/refusal.h"
#include "results_schema/vocabulary_json.h"

namespace bic::signing {
namespace {

using nlohmann::json;

json profiles_json(const std::vector<ProfileLevel>& profiles) {
  json list = json::array();
  for (const ProfileLevel& p : profiles) {
    list.push_back({{"profile", p.profile}, {"dtype", p.dtype}, {"level", p.level}});
  }
  return list;
}

json descriptors(const std::vector<Artifact>& artifacts) {
  json list = json::array();
  for (const Artifact& artifact : artifacts) list.push_back(descriptor(artifact));
  return list;
}

Seconds time_at(const json& predicate, const std::string& place) {
  if (const auto time = parse_time(text_at(predicate, place))) return *time;
  throw Refusal("predicate", place + " is no time");
}

std::vector<Artifact> policies_in(const json& list) {
  std::vector<Artifact> policies;
  for (const json& one : list) {
    policies.push_back(
        {one.at("name").get<std::string>(), one.at("digest").at("sha256").get<std::string>()});
  }
  return policies;
}

std::vector<ProfileLevel> profiles_in(const json& list) {
  std::vector<ProfileLevel> profiles;
  for (const json& one : list) {
    profiles.push_back({one.at("profile").get<std::string>(),
                        one.at("dtype").get<DType>(),
                        one.at("level").get<Level>()});
  }
  return profiles;
}

/// What json::exception and UsageError are thrown for is a predicate of another form.
Certificate certificate_in(const Statement& statement) {
  const json& p = statement.predicate;
  const json& own = p.at("bi_conform");
  using Texts = std::vector<std::string>;
  return {.subjects = statement.subjects,
          .verifier = text_at(p, "/verifier/id"),
          .policies = policies_in(p.at("verifier").at("policies")),
          .reports = own.at("reports").get<Texts>(),
          .suite = text_at(p, "/bi_conform/suite"),
          .programs = own.at("programs").get<Texts>(),
          .strength = text_at(p, "/bi_conform/strength"),
          .device = text_at(p, "/bi_conform/device"),
          .isa = text_at(p, "/bi_conform/isa"),
          .level = own.at("level").get<Level>(),
          .ops_covered = number_at(p, "/bi_conform/ops_covered"),
          .ops_total = number_at(p, "/bi_conform/ops_total"),
          .profiles = profiles_in(own.at("profiles")),
          .created = time_at(p, "/timeCreated"),
          .expires = time_at(p, "/bi_conform/expires")};
}

}  // namespace

Statement statement_of(const Certificate& c) {
  return {.subjects = c.subjects,
          .predicate_type = std::string(kCertificateType),
          .predicate = {{"verifier", {{"id", c.verifier}, {"policies", descriptors(c.policies)}}},
                        {"timeCreated", time_text(c.created)},
                        {"properties", properties_of(c)},
                        {"bi_conform",
                         {{"expires", time_text(c.expires)},
                          {"suite", c.suite},
                          {"programs", c.programs},
                          {"strength", c.strength},
                          {"device", c.device},
                          {"isa", c.isa},
                          {"level", c.level},
                          {"ops_covered", c.ops_covered},
                          {"ops_total", c.ops_total},
                          {"profiles", profiles_json(c.profiles)},
                          {"reports", c.reports}}}}};
}

Certificate read_certificate(const Statement& statement) {
  try {
    Certificate certificate = certificate_in(statement);
    if (statement.predicate.at("properties") == json(properties_of(certificate))) {
      return certificate;
    }
  } catch (const json::exception&) {
    throw Refusal("predicate", "the certificate lacks a member, or one is of another type");
  } catch (const UsageError& error) {
    throw Refusal("predicate", error.what());
  }
  throw Refusal("predicate", "the certificate's properties say other things than the rest of it");
}

}  // namespace bic::signing
