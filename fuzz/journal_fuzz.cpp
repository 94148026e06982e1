// Journals: what is torn off can be cut, and nothing before it is lost; all else is refused.
//
// The input is read twice: as it is, and with the right check put into each line, since no fuzzer
// guesses a SHA-256 and would else never come behind it.

#include <sstream>
#include <string>

#include "fuzz/fuzz.h"
#include "results_schema/error.h"
#include "results_schema/journal.h"
#include "results_schema/journal_line.h"

namespace {

using bic::fuzz::require;

/// The lines are objects without their member "check"; a last one without its newline stays torn.
std::string with_checks(std::string_view lines) {
  std::string text;
  std::istringstream in{std::string(lines)};
  for (std::string body; std::getline(in, body);) {
    text += body.empty() ? body : bic::report::with_check(body);
    if (!in.eof()) text += '\n';
  }
  return text;
}

void read_twice(std::string_view text) {
  try {
    const auto journal = bic::report::parse_journal(text, "fuzz");
    require(journal.total_bytes == text.size(), "a journal knows its size");
    require(journal.good_bytes <= text.size(), "what is good is part of it");
    const auto good = bic::report::parse_journal(text.substr(0, journal.good_bytes), "fuzz");
    require(good.good_bytes == journal.good_bytes,
            "nothing more is dropped once what is torn is cut");
    require(good.problems.size() == journal.problems.size(),
            "cutting what is torn loses no problem");
  } catch (const bic::HarnessError& error) {
    bic::fuzz::require_one_line(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = bic::fuzz::text_of(bytes, size);
  read_twice(text);
  read_twice(with_checks(text));
  return 0;
}
