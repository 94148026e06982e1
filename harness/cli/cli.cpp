#include "harness/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "harness/cli/backend_flags.h"
#include "harness/cli/flags.h"
#include "harness/cli/inform.h"
#include "harness/files/typed.h"
#include "harness/plan/case_check.h"
#include "harness/reference/declare.h"
#include "harness/reference/model_weights.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/run.h"
#include "harness/workers/backends.h"
#include "harness/workers/environment.h"
#include "harness/workers/interrupt.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

int repro_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Runs one case again by its case string.", "bi-conform repro");
  BackendFlags backend;
  std::string text;
  backend.add_to(app);
  backend.add_weights(app);
  app.add_option("case", text, "case string, as a report or a failure prints it")->required();
  parse(app, arguments);
  const CaseName name = parse_case_name(text);
  backend.declare(program, weights_of_case(name, backend.weights));
  check_case(name);  // what cannot be run is answered before any work
  if (name.relation == peer_relation().name && backend.against.empty()) {
    throw UsageError("the case compares two backends; name the other one with --against");
  }
  catch_interrupts();
  check_declared_ops();
  return reproduce(backend.launch(program), text, program.typed);
}

int list_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Lists ops, relations, laws, faults or backends.", "bi-conform list");
  std::string what = "ops";
  std::vector<std::string> op_specs;
  add_op_specs(app, op_specs);
  app.add_option(
      "what", what, "ops, relations, laws, faults, public or backends; ops-page: docs/ops.md");
  parse(app, arguments);
  declare_ops(op_specs, {});
  if (what == "ops-page") {
    return print_ops_page(launch_of("libtorch", program.path),
                          launch_of("libtorch-invariant", program.path));
  }
  return list(what);
}

int support_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Shows a backend's manifest.", "bi-conform support");
  BackendFlags backend;
  std::string nonce;
  backend.add_to(app);
  app.add_option("--nonce", nonce, "show the seed that a run takes for it (docs/signing.md)");
  parse(app, arguments);
  catch_interrupts();
  backend.declare(program);
  return support(backend.launch(program), nonce);
}

int explain_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Explains a status, reason, level, relation or op.", "bi-conform explain");
  std::string word;
  std::vector<std::string> op_specs;
  add_op_specs(app, op_specs);
  app.add_option("word", word, "vacuous, nan_bits, BI-2, layout, mm, …")->required();
  parse(app, arguments);
  declare_ops(op_specs, {});
  return explain(word);
}

/// Hidden: what the parent starts. Arguments: library, backend, and of a LibTorch worker elsewhere
/// device and torch's folder; the socket is descriptor 3.
int worker_verb(const Program&, const Arguments& arguments) {
  if (arguments.size() == 4) {
    return torch_worker_main(arguments[0], arguments[1], {arguments[2], arguments[3]}, 3);
  }
  if (arguments.size() != 2) throw UsageError("worker: started by bi-conform itself, not by hand");
  return worker_main(arguments[0], arguments[1], 3);
}

using Verb = int (*)(const Program&, const Arguments&);

const std::map<std::string, Verb>& verbs() {
  static const std::map<std::string, Verb> kVerbs{{"run", run_verb},
                                                  {"repro", repro_verb},
                                                  {"merge", merge_verb},
                                                  {"diff", diff_verb},
                                                  {"gate", gate_verb},
                                                  {"render", render_verb},
                                                  {"list", list_verb},
                                                  {"support", support_verb},
                                                  {"explain", explain_verb},
                                                  {"selftest", selftest_verb},
                                                  {"keygen", keygen_verb},
                                                  {"sign", sign_verb},
                                                  {"verify", verify_verb},
                                                  {"prove", prove_verb},
                                                  {"certify", certify_verb},
                                                  {"badge", badge_verb},
                                                  {"perf", perf_verb},
                                                  {"trace", trace_verb},
                                                  {"worker", worker_verb}};
  return kVerbs;
}

int dispatch(const Program& program, Arguments arguments) {
  if (has_stock(program.path)) declare_models(launch_of("libtorch", program.path));
  if (arguments.empty() || arguments[0].starts_with("-")) return run_verb(program, arguments);
  const auto verb = verbs().find(arguments[0]);
  if (verb == verbs().end()) {
    Arguments known;
    for (const auto& [text, run] : verbs()) known.push_back(text);
    throw UsageError(fmt::format("unknown verb '{}'{} (bi-conform --help lists them)",
                                 arguments[0],
                                 did_you_mean(arguments[0], known)));
  }
  arguments.erase(arguments.begin());
  return verb->second(program, arguments);
}

/// One line, whatever was typed.
void complain(std::string line) {
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  std::cerr << "bi-conform: " << line << '\n';
}

}  // namespace

int run_command_line(const std::string& program,
                     const std::string& typed,
                     const Arguments& arguments) {
  try {
    return dispatch({program, typed}, arguments);
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
    return 0;
  } catch (const CLI::Success&) {
    return 0;
  } catch (const CLI::ParseError& e) {
    complain(e.what());
    return static_cast<int>(ExitCode::kUsage);
  } catch (const Error& e) {
    complain(e.what());
    return static_cast<int>(e.code());
  } catch (const Interrupted&) {
    complain("interrupted before any verdict");
    return static_cast<int>(ExitCode::kUnproved);
  } catch (const std::bad_alloc&) {
    complain("out of memory; ask for smaller --dims or --batch");
    return static_cast<int>(ExitCode::kHarnessError);
  } catch (const std::exception& e) {
    complain(std::string("internal error: ") + e.what());
    return static_cast<int>(ExitCode::kHarnessError);
  }
}

}  // namespace bic
