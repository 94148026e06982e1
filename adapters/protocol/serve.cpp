#include <nlohmann/json.hpp>

#include "adapters/protocol/backend.h"
#include "adapters/protocol/channel.h"
#include "adapters/protocol/shared_memory.h"
#include "results_schema/error.h"

namespace bic::protocol {
namespace {

/// Memory of the problem at hand and the dispatch of requests by their "do" field.
class Server {
 public:
  explicit Server(Backend& backend) : backend_(backend) {}

  nlohmann::json answer(Message request) {
    const std::string verb = request.body.at("do");
    if (verb == "hello") return hello(request.body);
    if (verb == "load") return load(std::move(request));
    if (verb == "run") return backend_.run(request.body.get<TrialMessage>(), output_.bytes());
    if (verb == "time") return backend_.time(request.body.get<TimeMessage>(), output_.bytes());
    if (verb == "study") return study(std::move(request));
    throw HarnessError("protocol: unknown request '" + verb + "'");
  }

 private:
  nlohmann::json hello(const nlohmann::json& request) {
    std::vector<DeclaredOp> declared;
    for (const auto& op : request.value("ops", nlohmann::json::array())) {
      if (!op.value("declared", false)) continue;
      DeclaredOp& one = declared.emplace_back();
      one.op = op.at("op");
      one.calls = op.at("calls");
      for (const std::string dtype : op.at("dtypes")) {
        if (const auto known = parse_dtype(dtype)) one.dtypes.push_back(*known);
      }
    }
    backend_.declare(declared);
    return backend_.hello();
  }

  nlohmann::json load(Message request) {
    const auto problem = request.body.get<ProblemMessage>();
    if (request.descriptors.size() != 2) throw HarnessError("protocol: load needs two descriptors");
    pool_ = SharedMemory::map(std::move(request.descriptors[0]), problem.pool_bytes);
    output_ = SharedMemory::map(std::move(request.descriptors[1]), problem.output_bytes);
    backend_.load(problem, pool_.bytes());
    return {{"loaded", true}};
  }

  nlohmann::json study(Message request) {
    if (request.descriptors.size() != 1) throw HarnessError("protocol: study needs a descriptor");
    const auto room = SharedMemory::map(std::move(request.descriptors[0]),
                                        request.body.at("room_bytes").get<std::size_t>());
    const std::string name = request.body.at("study");
    return {{"answer", backend_.study(name, request.body.at("request"), room.bytes())}};
  }

  Backend& backend_;
  SharedMemory pool_, output_;
};

}  // namespace

int serve(int socket, Backend& backend) {
  Server server(backend);
  Message request;
  while (receive(socket, request) == Received::kMessage) {
    nlohmann::json reply;
    try {
      reply = server.answer(std::move(request));
    } catch (const std::exception& e) {
      reply = {{"error", e.what()}};
    }
    if (!send(socket, reply)) break;
  }
  return 0;
}

}  // namespace bic::protocol
