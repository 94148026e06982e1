#include "harness/workers/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/workers/child.h"
#include "harness/workers/hello_request.h"
#include "harness/workers/interrupt.h"
#include "harness/workers/team_witness.h"

namespace bic {
namespace {

using nlohmann::json;
using protocol::Received;

// Starting LibTorch takes 0.3 s, on a loaded machine some seconds.
constexpr std::chrono::seconds kStartTimeout{120};

/// For a worker whose socket is closed to end by itself: 2 s, longer where the user waits longer
/// for answers, as of a worker that a debugging tool slows.
std::chrono::milliseconds patience_at_end(std::chrono::milliseconds timeout) {
  return std::max<std::chrono::milliseconds>(std::chrono::seconds(2), timeout / 15);
}

// Of what a child writes to stdout and stderr in one request; it is refused the rest, so that a
// flood fills no memory.
constexpr off_t kMostWords = 16 << 20;

protocol::Descriptor memory_for_words() {
  protocol::Descriptor file(
      memfd_create("bi-conform worker output", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), kMostWords) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW) != 0) {
    throw HarnessError(std::string("cannot keep a worker's output: ") + std::strerror(errno));
  }
  return file;
}

std::pair<protocol::Descriptor, protocol::Descriptor> socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw HarnessError(std::string("cannot make a socket pair: ") + std::strerror(errno));
  }
  return {protocol::Descriptor(ends[0]), protocol::Descriptor(ends[1])};
}

/// Throws UsageError for a worker that cannot start or speaks another version.
protocol::Hello read_hello(const json& reply, const std::string& backend) try {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("backend '" + backend + "' " + why);
  };
  if (reply.contains("error")) refuse("did not start: " + reply["error"].get<std::string>());
  // First: the fields of another version may be others.
  const int version = reply.value("version", 0);
  if (version != protocol::kVersion) {
    refuse("speaks protocol version " + std::to_string(version) + "; this program speaks " +
           std::to_string(protocol::kVersion));
  }
  return reply.get<protocol::Hello>();
} catch (const json::exception& e) {
  throw UsageError("backend '" + backend + "' has a malformed manifest: " + e.what());
}

}  // namespace

int worker_main(const std::filesystem::path& library, const std::string& backend, int socket) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = handle == nullptr ? nullptr : dlsym(handle, "bic_worker_main");
  if (entry == nullptr) {
    std::fprintf(stderr, "cannot load the worker library: %s\n", dlerror());
    return 2;
  }
  return reinterpret_cast<WorkerMain>(entry)(socket, backend.c_str(), &largest_team);
}

Worker::Worker(WorkerLaunch launch) : launch_(std::move(launch)) {
  if (!launch_.problem.empty()) throw UsageError(launch_.problem);
  auto [mine, theirs] = socket_pair();
  socket_ = std::move(mine);
  if (!launch_.isolated && !launch_.arguments.empty()) {
    throw UsageError("--isolation none: '" + launch_.backend + "' runs in a program of its own");
  }
  launch_.isolated ? start_child(std::move(theirs)) : start_thread(std::move(theirs));
  const auto patience = std::exchange(launch_.timeout, kStartTimeout);
  auto answer = ask("hello", hello_request());
  launch_.timeout = patience;
  if (const Death* death = std::get_if<Death>(&answer)) {
    const std::string line = "backend '" + launch_.backend + "' did not start: " + death->message;
    if (death->killed_by_others) throw KilledAtStart(line);
    throw UsageError(line);
  }
  try {
    hello_ = read_hello(std::get<json>(answer), launch_.backend);
  } catch (...) {
    socket_.reset();  // ends the worker, which a thread waits for
    if (child_ > 0) reap_child(child_, patience_at_end(launch_.timeout));
    throw;
  }
}

Worker::~Worker() {
  socket_.reset();
  if (thread_.joinable()) thread_.join();
  if (child_ > 0) reap_child(child_, patience_at_end(launch_.timeout));
}

void Worker::start_child(protocol::Descriptor socket) {
  words_ = memory_for_words();
  std::vector<std::string> arguments = launch_.arguments;
  if (arguments.empty()) {
    arguments = {"bi-conform", "worker", launch_.library.string(), launch_.backend};
  }
  child_ = spawn_worker({.program = launch_.program,
                         .arguments = std::move(arguments),
                         .socket = socket.get(),
                         .output = words_.get()});
}

void Worker::start_thread(protocol::Descriptor socket) {
  thread_ = std::jthread(
      [library = launch_.library, backend = launch_.backend, socket = std::move(socket)] {
        worker_main(library, backend, socket.get());
      });
}

std::variant<json, Death> Worker::ask(const char* verb,
                                      json body,
                                      const std::vector<int>& descriptors) {
  body["do"] = verb;
  // The child writes where this descriptor stands: both are one open file.
  if (words_ && lseek(words_.get(), 0, SEEK_CUR) > kMostWords / 2) lseek(words_.get(), 0, SEEK_SET);
  if (!socket_ || !protocol::send(socket_.get(), body, descriptors)) return bury(Received::kClosed);
  protocol::Message reply;
  const auto deadline = std::chrono::steady_clock::now() + launch_.timeout;
  try {
    const auto give_up = [this] { return is_waited_for_in_vain(); };
    const Received how = protocol::receive(socket_.get(), reply, deadline, give_up);
    // A leak of many short trials is seen after one of them.
    if (is_unwanted()) return end_early();
    if (how == Received::kGivenUp) return bury(Received::kClosed);
    if (how != Received::kMessage) return bury(how);
  } catch (const HarnessError& e) {
    return disown(e.what());
  }
  return std::move(reply.body);
}

/// Whether the run was interrupted, or the child holds too much. A thread can only be waited for.
bool Worker::is_unwanted() {
  if (child_ <= 0) return false;
  if (!excess_) excess_ = memory_.excess(child_, launch_.memory);
  return excess_ || interrupted();
}

/// A child that ended keeps its socket open where it left processes behind. It is asked for once
/// more after its end was seen: its last reply may have come in between.
bool Worker::is_waited_for_in_vain() {
  if (child_ <= 0) return false;
  return is_unwanted() || std::exchange(ended_, has_ended(child_));
}

Death Worker::end_early() {
  socket_.reset();
  kill_child(std::exchange(child_, -1));
  if (interrupted()) throw Interrupted();
  constexpr double kMiB = 1 << 20;
  return {Status::kCrash,
          Reason::kOutOfMemory,
          fmt::format("its processes held {:.0f} MiB, more than the {:.0f} MiB of --memory{}",
                      static_cast<double>(excess_.value_or(0)) / kMiB,
                      static_cast<double>(launch_.memory) / kMiB,
                      last_words())};
}

/// Whatever a worker answers is the subject's doing: it may have written to the socket itself.
Death Worker::disown(const std::string& why) {
  socket_.reset();
  if (child_ > 0) kill_child(std::exchange(child_, -1));
  return {
      Status::kCrash, Reason::kException, "the worker's reply is malformed: " + why + last_words()};
}

Death Worker::bury(Received how) {
  socket_.reset();
  Death death;
  if (how == Received::kTimeout) {
    death.status = Status::kTimeout;
    death.message = "no answer within " + std::to_string(launch_.timeout.count()) + " ms";
  }
  if (child_ > 0) {
    const ChildEnd end = how == Received::kTimeout
                             ? kill_child(child_)
                             : reap_child(child_, patience_at_end(launch_.timeout));
    child_ = -1;
    if (how != Received::kTimeout) {
      death.message = end.text;
      death.reason = end.signal != 0 ? Reason::kSignal : Reason::kException;
      if (end.killed_by_others) blame(death);
    }
  } else if (how != Received::kTimeout) {
    death.message = "the worker closed its socket";
    death.reason = Reason::kException;
  }
  // Whoever ends the run may have ended the worker too: that says nothing of the kernel.
  if (launch_.isolated && interrupted()) throw Interrupted();
  death.message += last_words();
  return death;
}

/// Of a child that something else killed: the system for want of memory, or who knows.
void Worker::blame(Death& death) const {
  death.killed_by_others = oom_kills() == oom_kills_;
  if (death.killed_by_others) return;
  death.reason = Reason::kOutOfMemory;
  death.message += "; the system killed processes because memory ran out";
}

/// "; " and the last lines that the child wrote, in one line; empty when there are none.
std::string Worker::last_words() const {
  constexpr off_t kMost = 400;
  if (!words_) return {};
  const off_t size = lseek(words_.get(), 0, SEEK_CUR);
  const off_t from = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t got = pread(words_.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = c == '\n' ? '|' : ' ';
  }
  return text.empty() ? text : "; " + text;
}

std::optional<Death> Worker::load(const protocol::ProblemMessage& problem,
                                  const protocol::SharedMemory& pool) {
  output_ = protocol::SharedMemory::create(problem.output_bytes);
  auto answer = ask("load", problem, {pool.descriptor(), output_.descriptor()});
  if (Death* death = std::get_if<Death>(&answer)) return std::move(*death);
  const json& reply = std::get<json>(answer);
  if (reply.contains("error")) {
    throw HarnessError("the worker cannot load a problem: " + reply["error"].get<std::string>());
  }
  return {};
}

/// A reply that says what the kernel did; an error of the worker's counts as its exception.
template <class Reply>
std::variant<Reply, Death> Worker::ask_for(const char* verb, json body) {
  auto answer = ask(verb, std::move(body));
  if (Death* death = std::get_if<Death>(&answer)) return std::move(*death);
  const json& reply = std::get<json>(answer);
  try {
    if (!reply.contains("error")) return reply.get<Reply>();
    Reply failed;
    failed.outcome = protocol::Outcome::kException;
    failed.message = reply["error"];
    return failed;
  } catch (const json::exception& e) {
    return disown(e.what());
  } catch (const HarnessError& e) {
    return disown(e.what());
  }
}

std::variant<protocol::TrialReply, Death> Worker::run(const protocol::TrialMessage& trial) {
  return ask_for<protocol::TrialReply>("run", trial);
}

std::variant<protocol::TimeReply, Death> Worker::time(const protocol::TimeMessage& request) {
  return ask_for<protocol::TimeReply>("time", request);
}

std::variant<json, Death> Worker::study(const std::string& study,
                                        const json& request,
                                        const protocol::SharedMemory& room) {
  auto answer = ask("study",
                    {{"study", study}, {"request", request}, {"room_bytes", room.bytes().size()}},
                    {room.descriptor()});
  if (Death* death = std::get_if<Death>(&answer)) return std::move(*death);
  json& reply = std::get<json>(answer);
  if (reply.contains("error")) {
    throw UsageError(fmt::format(
        "backend '{}', study {}: {}", launch_.backend, study, reply["error"].get<std::string>()));
  }
  if (!reply.contains("answer")) return disown("it has no answer");
  return std::move(reply["answer"]);
}

}  // namespace bic
