#include "results_schema/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/report_json.h"
#include "results_schema/sha256.h"

namespace bic::report {
namespace {

using nlohmann::json;

constexpr std::string_view kOpening = R"({"check":")";
constexpr std::string_view kClosing = R"(",)";
constexpr std::size_t kCheckDigits = 8;
constexpr std::size_t kPrefix = kOpening.size() + kCheckDigits + kClosing.size();

// `body` is the canonical text of a non-empty object; the member "check" goes before its others.
std::string with_check(const std::string& body) {
  const std::string check = sha256_hex(body).substr(0, kCheckDigits);
  return std::string(kOpening) + check + std::string(kClosing) + body.substr(1);
}

// The object without its check; empty when the check is absent or does not match.
std::string without_check(std::string_view line) {
  if (line.size() <= kPrefix || !line.starts_with(kOpening)) return "";
  const std::string body = "{" + std::string(line.substr(kPrefix));
  return with_check(body) == line ? body : "";
}

json header_to_json(const JournalHeader& h) {
  return {{"schema_version", h.schema_version},
          {"suite_version", h.suite_version},
          {"backend", h.backend},
          {"seed", to_string(h.seed)},
          {"strength", h.strength}};
}

JournalHeader header_from_json(const json& j) {
  JournalHeader h;
  j.at("schema_version").get_to(h.schema_version);
  j.at("suite_version").get_to(h.suite_version);
  j.at("backend").get_to(h.backend);
  const auto seed = parse_seed(j.at("seed").get_ref<const std::string&>());
  if (!seed) throw UsageError("the seed is not hex");
  h.seed = *seed;
  j.at("strength").get_to(h.strength);
  if (h.schema_version != kSchemaVersion) {
    throw UsageError("schema version " + std::to_string(h.schema_version) +
                     ", this program reads " + std::to_string(kSchemaVersion));
  }
  return h;
}

int open_or_refuse(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor >= 0) return descriptor;
  throw UsageError("journal: cannot open '" + path.string() +
                   "' for writing: " + std::strerror(errno) + "; choose another folder with --out");
}

void take_line(std::string_view line, Journal& out) {
  const std::string body = without_check(line);
  if (body.empty()) throw UsageError("the check does not match: the line was changed or damaged");
  const json object = read_json(body, "line");
  if (out.good_lines == 0) {
    out.header = header_from_json(object);
  } else {
    out.cases.push_back(case_from_json(object));
  }
}

}  // namespace

JournalWriter::JournalWriter(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor), path_(std::move(path)) {}

JournalWriter::JournalWriter(const std::filesystem::path& path, const JournalHeader& header)
    : JournalWriter(open_or_refuse(path, O_CREAT | O_EXCL), path) {
  write_line(canonical_json(header_to_json(header)));
}

JournalWriter JournalWriter::resume(const std::filesystem::path& path, const Journal& read) {
  JournalWriter writer(open_or_refuse(path, 0), path);
  const auto good = static_cast<off_t>(read.good_bytes);
  if (read.truncated && ftruncate(writer.descriptor_, good) != 0) {
    throw HarnessError("journal: cannot cut '" + path.string() + "': " + std::strerror(errno));
  }
  return writer;
}

JournalWriter::JournalWriter(JournalWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalWriter::add(const CaseResult& result) {
  write_line(canonical_json(case_to_json(result)));
}

void JournalWriter::write_line(const std::string& body) {
  const std::string line = with_check(body) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw HarnessError("journal: cannot write to '" + path_.string() +
                         "': " + std::strerror(errno) +
                         "; what was judged so far is kept, go on with --resume");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

Journal read_journal(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw UsageError("journal: cannot read '" + path.string() + "': " + std::strerror(errno));
  }
  const auto place = [&](std::size_t line) {
    return "journal: '" + path.string() + "' line " + std::to_string(line) + ": ";
  };
  Journal journal;
  for (std::size_t end; (end = text.find('\n', journal.good_bytes)) != std::string::npos;) {
    try {
      take_line(std::string_view(text).substr(journal.good_bytes, end - journal.good_bytes),
                journal);
    } catch (const std::exception& error) {
      throw UsageError(place(journal.good_lines + 1) + error.what());
    }
    ++journal.good_lines;
    journal.good_bytes = end + 1;
  }
  journal.truncated = journal.good_bytes != text.size();
  if (journal.good_lines == 0) throw UsageError(place(1) + "no whole header; start a new run");
  return journal;
}

}  // namespace bic::report
