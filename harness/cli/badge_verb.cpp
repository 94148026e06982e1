#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/flags.h"
#include "harness/cli/signing_files.h"
#include "harness/files/text_file.h"
#include "harness/judge/waivers.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "results_schema/render/badge.h"

namespace bic {
namespace {

/// "attention/bf16" of --profile, as the certificate has it; nothing when the flag is not given.
std::optional<signing::ProfileLevel> profile_named(const std::string& text,
                                                   const signing::Certificate& certificate) {
  if (text.empty()) return {};
  std::vector<std::string> held;
  for (const signing::ProfileLevel& p : certificate.profiles) {
    held.push_back(fmt::format("{}/{}", p.profile, name(p.dtype)));
    if (held.back() == text) return p;
  }
  throw UsageError(fmt::format("--profile: the certificate holds no '{}'{} (it holds: {})",
                               text,
                               did_you_mean(text, held),
                               held.empty() ? "none" : fmt::format("{}", fmt::join(held, " "))));
}

/// The last second of the day, so that what expires on it has expired.
std::optional<signing::Seconds> end_of(const std::string& today) {
  if (today.empty()) return {};
  return signing::parse_time(day(today) + "T23:59:59Z");
}

}  // namespace

int badge_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Draws a certificate that a policy accepts, or accepted until it expired.",
               "bi-conform badge");
  VerifyRequest request{.even_expired = true};
  std::string policy_path, profile, today, out = "badge.svg";
  app.add_option("certificate", request.envelope, "NAME.intoto.jsonl or NAME.sigstore.json")
      ->required();
  app.add_option("--policy", policy_path, "what is accepted (docs/signing.md)")->required();
  app.add_option("--profile", profile, "show this one of its profiles: attention/bf16");
  app.add_option("--today", today, "the day on which it is looked at: 2026-12-31 (the clock's)");
  app.add_option("-o,--out", out, "file to write (badge.svg)");
  parse(app, arguments);
  request.at = end_of(today);
  if (!request.at) request.at = current_time();
  const signing::Answer answer = verify_files(request, load_policy(policy_path));
  if (!answer.certificate) {
    throw UsageError(fmt::format(
        "'{}' is a report, which anybody may make of their own run; a badge is of a certificate "
        "(bi-conform certify)",
        request.envelope));
  }
  const auto shown = profile_named(profile, *answer.certificate);
  write_text(out, signing::badge(*answer.certificate, shown, *request.at));
  fmt::print("{}\n{}\n", out, signing::badge_words(*answer.certificate, shown, *request.at));
  return 0;
}

}  // namespace bic
