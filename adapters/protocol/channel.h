#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bic::protocol {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

/// One message: JSON, and descriptors sent beside it.
struct Message {
  nlohmann::json body;
  std::vector<Descriptor> descriptors;
};

/// Frames on a Unix stream socket: four bytes of length, little-endian, then that many bytes of
/// JSON. Descriptors travel with the length. A frame is at most 64 MiB. Throws HarnessError on a
/// malformed frame; a closed peer is an empty Message (or false from send).
bool send(int socket, const nlohmann::json& body, const std::vector<int>& descriptors = {});

enum class Received : std::uint8_t { kMessage, kClosed, kTimeout, kGivenUp };

/// Waits for one message until `deadline` (none: for ever). `give_up`, where there is one, is asked
/// about every 50 ms of the wait; true ends it.
Received receive(int socket,
                 Message& message,
                 std::optional<std::chrono::steady_clock::time_point> deadline = {},
                 const std::function<bool()>& give_up = {});

}  // namespace bic::protocol
