#include "harness/worker.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/child.h"
#include "harness/team_witness.h"

namespace bic {
namespace {

using nlohmann::json;
using protocol::Received;

// Starting LibTorch takes 0.3 s, on a loaded machine some seconds.
constexpr std::chrono::seconds kStartTimeout{120};

std::pair<protocol::Descriptor, protocol::Descriptor> socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw HarnessError(std::string("cannot make a socket pair: ") + std::strerror(errno));
  }
  return {protocol::Descriptor(ends[0]), protocol::Descriptor(ends[1])};
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
  auto [mine, theirs] = socket_pair();
  socket_ = std::move(mine);
  launch_.isolated ? start_child(std::move(theirs)) : start_thread(std::move(theirs));
  const auto patience = std::exchange(launch_.timeout, kStartTimeout);
  auto answer = ask("hello", json::object());
  launch_.timeout = patience;
  if (const Death* death = std::get_if<Death>(&answer)) {
    throw UsageError("backend '" + launch_.backend + "' did not start: " + death->message);
  }
  hello_ = std::get<json>(answer).get<protocol::Hello>();
  if (hello_.version != protocol::kVersion) {
    socket_.reset();  // ends the worker
    throw UsageError("backend '" + launch_.backend + "' speaks protocol version " +
                     std::to_string(hello_.version) + "; this program speaks " +
                     std::to_string(protocol::kVersion));
  }
}

Worker::~Worker() {
  socket_.reset();
  if (thread_.joinable()) thread_.join();
  if (child_ > 0) reap_child(child_, std::chrono::seconds(2));
}

void Worker::start_child(protocol::Descriptor socket) {
  words_ = protocol::Descriptor(memfd_create("bi-conform worker output", MFD_CLOEXEC));
  child_ = spawn_worker({.program = launch_.program,
                         .library = launch_.library,
                         .backend = launch_.backend,
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
  if (!socket_ || !protocol::send(socket_.get(), body, descriptors)) return bury(Received::kClosed);
  protocol::Message reply;
  const auto deadline = std::chrono::steady_clock::now() + launch_.timeout;
  const Received how = protocol::receive(socket_.get(), reply, deadline);
  if (how != Received::kMessage) return bury(how);
  return std::move(reply.body);
}

Death Worker::bury(Received how) {
  socket_.reset();
  Death death;
  if (how == Received::kTimeout) {
    death.status = Status::kTimeout;
    death.message = "no answer within " + std::to_string(launch_.timeout.count()) + " ms";
  }
  if (child_ > 0) {
    const ChildEnd end = how == Received::kTimeout ? kill_child(child_)
                                                   : reap_child(child_, std::chrono::seconds(2));
    child_ = -1;
    if (how != Received::kTimeout) {
      death.message = end.text;
      death.reason = end.signalled ? Reason::kSignal : Reason::kException;
    }
  } else if (how != Received::kTimeout) {
    death.message = "the worker closed its socket";
    death.reason = Reason::kException;
  }
  if (const std::string words = last_words(); !words.empty()) death.message += "; " + words;
  return death;
}

/// The last lines that the child wrote, in one line.
std::string Worker::last_words() const {
  constexpr off_t kMost = 400;
  if (!words_) return {};
  const off_t size = lseek(words_.get(), 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t got = pread(words_.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = c == '\n' ? '|' : ' ';
  }
  return text;
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

std::variant<protocol::TrialReply, Death> Worker::run(const protocol::TrialMessage& trial) {
  auto answer = ask("run", trial);
  if (Death* death = std::get_if<Death>(&answer)) return std::move(*death);
  const json& reply = std::get<json>(answer);
  if (!reply.contains("error")) return reply.get<protocol::TrialReply>();
  protocol::TrialReply failed;
  failed.outcome = protocol::Outcome::kException;
  failed.message = reply["error"];
  return failed;
}

std::variant<protocol::TimeReply, Death> Worker::time(const protocol::TimeMessage& request) {
  auto answer = ask("time", request);
  if (Death* death = std::get_if<Death>(&answer)) return std::move(*death);
  const json& reply = std::get<json>(answer);
  if (!reply.contains("error")) return reply.get<protocol::TimeReply>();
  return protocol::TimeReply{
      .outcome = protocol::Outcome::kException, .message = reply["error"], .nanoseconds = 0};
}

}  // namespace bic
