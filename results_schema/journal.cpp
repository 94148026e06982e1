#include "results_schema/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "results_schema/error.h"
#include "results_schema/journal_line.h"

namespace bic::report {
namespace {

// A child of a writer that was killed holds the file until it has become another program.
constexpr int kLockTries = 20;
constexpr std::chrono::milliseconds kLockPause{50};

int open_or_refuse(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor >= 0) return descriptor;
  const std::string reason = std::strerror(errno);
  const bool begins = (flags & O_CREAT) != 0;
  throw UsageError("journal: cannot open '" + path.string() + "' for writing: " + reason +
                   (begins ? "; choose another folder with --out"
                           : "; make it writable, or copy its folder and resume the copy"));
}

}  // namespace

JournalWriter::JournalWriter(const std::filesystem::path& path, int flags)
    : path_(path), descriptor_(open_or_refuse(path, flags)) {
  lock();
}

JournalWriter::JournalWriter(const std::filesystem::path& path, const JournalHeader& header)
    : JournalWriter(path, O_CREAT | O_EXCL) {
  write_line(header_line(header));
}

JournalWriter::JournalWriter(const std::filesystem::path& path, const Journal& read)
    : JournalWriter(path, 0) {
  // Between reading and locking another writer may have ended: its problems must not be cut off.
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  if (static_cast<std::uintmax_t>(size) != read.total_bytes) {
    throw HarnessError("journal: '" + path.string() + "' was changed meanwhile; resume it again");
  }
  if (read.good_bytes == read.total_bytes) return;
  if (ftruncate(descriptor_, static_cast<off_t>(read.good_bytes)) != 0) {
    throw HarnessError("journal: cannot cut '" + path.string() + "': " + std::strerror(errno));
  }
}

JournalWriter::~JournalWriter() { close(descriptor_); }

void JournalWriter::lock() {
  for (int i = 0; i < kLockTries; ++i) {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) return;  // a file system without locks
    std::this_thread::sleep_for(kLockPause);
  }
  close(descriptor_);
  throw HarnessError("journal: '" + path_.string() +
                     "' is being written by another bi-conform; wait for its end");
}

bool is_being_written(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return locked;
}

void JournalWriter::add(const ProblemRecord& problem) {
  for (const CaseResult& result : problem.cases) write_line(case_line(result));
  write_line(problem_line(problem));
}

void JournalWriter::add(const RowTiming& timing) { write_line(timing_line(timing)); }
void JournalWriter::add(const DecoderRow& row) { write_line(decoder_line(row)); }

void JournalWriter::write_line(const std::string& body) {
  if (!failure_.empty()) throw HarnessError(failure_);
  const std::string line = with_check(body) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      failure_ = "journal: cannot write to '" + path_.string() + "': " + std::strerror(errno) +
                 "; what was judged so far is kept: mend that and go on with --resume " +
                 path_.parent_path().string();
      throw HarnessError(failure_);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bic::report
