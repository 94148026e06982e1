#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "results_schema/error.h"
#include "results_schema/journal_line.h"
#include "results_schema/json.h"
#include "results_schema/report_json.h"

namespace bic::report {
namespace {

using nlohmann::json;

DType dtype_of(const json& line) {
  const auto dtype = parse_dtype(line.at("dtype").get_ref<const std::string&>());
  if (!dtype) throw UsageError("unknown dtype " + line.at("dtype").dump());
  return *dtype;
}

JournalHeader header_of(const json& line) {
  JournalHeader h;
  line.at("schema_version").get_to(h.schema_version);
  if (h.schema_version != kSchemaVersion) {
    throw UsageError("schema version " + std::to_string(h.schema_version) +
                     ", this program reads " + std::to_string(kSchemaVersion));
  }
  line.at("facts").get_to(h.facts);
  line.at("command_line").get_to(h.command_line);
  line.at("started").get_to(h.started);
  if (line.contains("detection")) {
    const json& d = line["detection"];
    h.detection = {.killed = d.at("killed").get<std::int64_t>(),
                   .faults = d.at("faults").get<std::int64_t>()};
  }
  return h;
}

/// All but its cases.
ProblemRecord problem_of(const json& line) {
  ProblemRecord p{.op = line.at("op"), .dtype = dtype_of(line), .number = line.at("problem")};
  p.controls = controls_from_json(line.at("controls"));
  if (line.contains("worst_error_ppm"))
    p.worst_error_ppm = line["worst_error_ppm"].get<std::int64_t>();
  if (line.contains("timed")) {
    const json& t = line["timed"];
    p.timed = {.sha256 = t.at("sha256"), .bytes = t.at("bytes")};
  }
  if (line.contains("failures")) {
    for (const json& f : line["failures"]) p.failures.push_back(failure_from_json(f));
  }
  p.killed_workers = line.value("killed_workers", std::int64_t{0});
  return p;
}

/// Takes whole lines one after the other.
class Reader {
 public:
  /// Whether what was read so far ends with something whole: no case waits for its problem's end.
  bool is_whole() const { return waiting_.empty(); }

  void take(std::string_view text) {
    const std::string body = without_check(text);
    if (body.empty()) {
      throw UsageError("the check does not match: the line was changed or damaged");
    }
    const json line = read_json(body, "line");
    if (!started_) {
      journal.header = header_of(line);
      started_ = true;
    } else if (line.contains("case")) {
      waiting_.push_back(case_from_json(line));
    } else if (line.contains("problem")) {
      close(line);
    } else if (!waiting_.empty()) {
      throw UsageError("it stands between the cases of a problem");
    } else if (line.contains("decoder")) {
      add_decoder(line.at("decoder").get<DecoderRow>());
    } else {
      journal.timings.push_back({.op = line.at("op"),
                                 .dtype = dtype_of(line),
                                 .throughput = line.at("throughput").get<Throughput>()});
    }
  }

  Journal journal;

 private:
  void close(const json& line) {
    ProblemRecord p = problem_of(line);
    if (line.at("cases") != waiting_.size()) {
      throw UsageError("it closes " + line.at("cases").dump() + " cases, but " +
                       std::to_string(waiting_.size()) + " stand before it");
    }
    if (!closed_.insert({p.op, p.dtype, p.number}).second) {
      throw UsageError("it closes a problem for the second time");
    }
    p.cases = std::move(waiting_);
    waiting_.clear();
    journal.problems.push_back(std::move(p));
  }

  void add_decoder(DecoderRow row) {
    const auto is_same = [&](const DecoderRow& r) { return r.question == row.question; };
    if (std::ranges::any_of(journal.decoder, is_same)) {
      throw UsageError("it answers for a decoder for the second time");
    }
    journal.decoder.push_back(std::move(row));
  }

  bool started_ = false;
  std::vector<CaseResult> waiting_;
  std::set<std::tuple<std::string, DType, std::int64_t>> closed_;
};

}  // namespace

Journal parse_journal(std::string_view text, const std::string& where) {
  Reader reader;
  const auto refuse = [&](std::size_t line, const std::string& why) {
    throw HarnessError("journal: '" + where + "' line " + std::to_string(line) + ": " + why);
  };
  std::size_t lines = 0, begin = 0, good = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    ++lines;
    try {
      reader.take(text.substr(begin, end - begin));
    } catch (const std::exception& error) {
      refuse(lines, error.what());
    }
    if (reader.is_whole()) good = end + 1;
  }
  if (lines == 0) refuse(1, "no whole header; start a new run");
  reader.journal.good_bytes = good;
  reader.journal.total_bytes = text.size();
  return std::move(reader.journal);
}

Journal read_journal(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {  // a folder opens, and has nothing to read
    file.setstate(std::ios::badbit);
  }
  if (!file.is_open() || file.bad()) {
    throw UsageError("journal: cannot read '" + path.string() + "': " + std::strerror(errno));
  }
  return parse_journal(text, path.string());
}

}  // namespace bic::report
