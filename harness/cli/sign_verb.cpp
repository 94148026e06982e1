#include <fmt/format.h>

#include "harness/cli/flags.h"
#include "harness/cli/signing_files.h"
#include "harness/files/report_file.h"

namespace bic {

int sign_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Signs a report.", "bi-conform sign");
  std::string path, key_path;
  app.add_option("report", path, "report.json or its folder")->required();
  app.add_option("--key", key_path, "private key (bi-conform keygen)")->required();
  parse(app, arguments);
  const signing::PrivateKey key = load_private_key(key_path);
  const signing::ReportFile file = load_report_file(path);
  save_bundles(without_ending(report_file(path)),
               {signing::seal(signing::statement_text(signing::evidence_of(file)), key),
                signing::seal(signing::statement_text(signing::test_result_of(file)), key)},
               key);
  const std::size_t subjects = signing::subjects_of(file.report).size();
  fmt::print("signed for {} file{} by {}: {}\n",
             subjects,
             subjects == 1 ? "" : "s",
             key.public_key().keyid(),
             file.report.verdict.text);
  return 0;
}

}  // namespace bic
