#include "adapters/protocol/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "results_schema/error.h"

namespace bic::protocol {
namespace {

constexpr std::uint32_t kMaxFrame = 64u << 20;
// Bytes of a frame read at once: a length alone, which may be a lie, takes no memory.
constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kMaxDescriptors = 4;

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// How long a message is waited for.
struct Patience {
  Deadline deadline;
  const std::function<bool()>& give_up;
};

bool send_all(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

/// The length, with the descriptors attached to its first byte.
bool send_head(int socket, std::uint32_t length, const std::vector<int>& descriptors) {
  iovec part{&length, sizeof length};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr head{};
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  if (!descriptors.empty()) {
    head.msg_control = control;
    head.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t sent;
  do sent = sendmsg(socket, &head, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent <= 0) return false;
  return send_all(socket, reinterpret_cast<const char*>(&length) + sent, sizeof length - sent);
}

/// Milliseconds until the deadline, or until it is time to ask whether to give up; -1: no end.
int next_wait(const Patience& patience) {
  using std::chrono::duration_cast, std::chrono::milliseconds;
  constexpr std::int64_t kAsk = 50;
  if (!patience.deadline) return patience.give_up ? kAsk : -1;
  const auto rest = *patience.deadline - std::chrono::steady_clock::now();
  const auto left = std::max<std::int64_t>(0, duration_cast<milliseconds>(rest).count());
  return static_cast<int>(patience.give_up ? std::min(left, kAsk) : left);
}

Received wait_readable(int socket, const Patience& patience) {
  for (;;) {
    const int wait_ms = next_wait(patience);
    pollfd wait{socket, POLLIN, 0};
    const int ready = poll(&wait, 1, wait_ms);
    if (ready > 0) return Received::kMessage;
    if (ready < 0 && errno != EINTR) return Received::kClosed;
    if (patience.give_up && patience.give_up()) return Received::kGivenUp;
    if (wait_ms == 0) return Received::kTimeout;
  }
}

void take_descriptors(msghdr& head, std::vector<Descriptor>& descriptors) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&head); c != nullptr; c = CMSG_NXTHDR(&head, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
}

Received read_all(int socket,
                  char* bytes,
                  std::size_t size,
                  const Patience& patience,
                  std::vector<Descriptor>* descriptors) {
  while (size > 0) {
    if (const Received r = wait_readable(socket, patience); r != Received::kMessage) return r;
    iovec part{bytes, size};
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    if (descriptors != nullptr) {
      head.msg_control = control;
      head.msg_controllen = sizeof control;
    }
    const ssize_t got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Received::kClosed;
    if (descriptors != nullptr) take_descriptors(head, *descriptors);
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return Received::kMessage;
}

/// No message has a fraction, and to read one as the integer that should stand there is undefined
/// where it is out of range.
nlohmann::json read_frame(const std::string& text) {
  using nlohmann::json;
  bool fraction = false;
  const auto look = [&](int, json::parse_event_t, const json& value) {
    fraction = fraction || value.is_number_float();
    return true;
  };
  json body = json::parse(text, look, false);
  if (body.is_discarded()) throw HarnessError("protocol: a frame is not JSON");
  if (fraction) {
    throw HarnessError("protocol: a frame has a number that is no integer of 64 bits");
  }
  return body;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool send(int socket, const nlohmann::json& body, const std::vector<int>& descriptors) {
  // Invalid UTF-8 of a subject's message is replaced, never thrown on.
  const std::string text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxFrame || descriptors.size() > kMaxDescriptors) {
    throw HarnessError("protocol: a message is over the frame limit");
  }
  return send_head(socket, static_cast<std::uint32_t>(text.size()), descriptors) &&
         send_all(socket, text.data(), text.size());
}

Received receive(int socket,
                 Message& message,
                 Deadline deadline,
                 const std::function<bool()>& give_up) {
  const Patience patience{deadline, give_up};
  message = Message{};
  std::uint32_t length = 0;
  Received r = read_all(
      socket, reinterpret_cast<char*>(&length), sizeof length, patience, &message.descriptors);
  if (r != Received::kMessage) return r;
  if (length > kMaxFrame) throw HarnessError("protocol: a frame announces more than 64 MiB");
  std::string text;
  while (text.size() < length) {
    const std::size_t size = text.size();
    text.resize(std::min<std::size_t>(length, size + kPiece));
    r = read_all(socket, text.data() + size, text.size() - size, patience, nullptr);
    if (r != Received::kMessage) return r;
  }
  message.body = read_frame(text);
  return Received::kMessage;
}

}  // namespace bic::protocol
