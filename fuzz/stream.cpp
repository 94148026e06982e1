#include "fuzz/stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "adapters/protocol/channel.h"
#include "adapters/protocol/messages.h"
#include "fuzz/fuzz.h"
#include "results_schema/error.h"

namespace bic::fuzz {
namespace {

using nlohmann::json;

template <class Message>
void read_as(const json& body) {
  json written;
  try {
    written = body.get<Message>();
  } catch (const json::exception&) {
    return;
  } catch (const HarnessError& error) {
    require_one_line(error);
    return;
  }
  require(json(written.get<Message>()) == written, "a message reads as what was written");
}

void read_as_every_message(const json& body) {
  using namespace protocol;
  read_as<Hello>(body);
  read_as<TrialReply>(body);
  read_as<TimeReply>(body);
  read_as<ProblemMessage>(body);
  read_as<TrialMessage>(body);
  read_as<TimeMessage>(body);
}

/// The end to read from, after `bytes` and the writer's end.
protocol::Descriptor socket_with(const std::string& bytes) {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a socket pair can be made");
  protocol::Descriptor reader(ends[0]);
  const protocol::Descriptor writer(ends[1]);
  const std::size_t size = std::min(bytes.size(), std::size_t{64} << 10);
  require(::write(writer.get(), bytes.data(), size) == static_cast<ssize_t>(size),
          "a socket takes the bytes");
  return reader;
}

}  // namespace

void read_stream(const std::string& bytes) {
  const protocol::Descriptor reader = socket_with(bytes);
  try {
    protocol::Message message;
    while (protocol::receive(reader.get(), message) == protocol::Received::kMessage) {
      read_as_every_message(message.body);
    }
  } catch (const HarnessError& error) {
    require_one_line(error);
  }
}

}  // namespace bic::fuzz
