#include <fmt/format.h>

#include "harness/cli/flags.h"
#include "harness/cli/signing_files.h"
#include "harness/files/text_file.h"

namespace bic {

int prove_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Writes what shows one case of a signed report without the others.",
               "bi-conform prove");
  std::string name, path = "bi-conform-report", out = "proof.json";
  app.add_option("case", name, "case string, as the report has it")->required();
  app.add_option("--report", path, "report.json or its folder (bi-conform-report)");
  app.add_option("-o,--out", out, "file to write (proof.json)");
  parse(app, arguments);
  const signing::Proof proof = signing::prove(load_report_file(path).report, name);
  write_text(out, signing::proof_text(proof));
  fmt::print("{}\nstatus: {}; case {} of {}\n",
             out,
             bic::name(proof.record.status),
             proof.index + 1,
             proof.count);
  return 0;
}

}  // namespace bic
