#include "adapters/libtorch/audit_study.h"

#include <map>
#include <nlohmann/json.hpp>

#include "adapters/libtorch/model_run.h"
#include "adapters/libtorch/op_watch.h"

namespace bic::libtorch {

nlohmann::json audit(const nlohmann::json& request, std::span<std::byte>) {
  using nlohmann::json;
  const auto model = ready(model_run(request));
  json all = json::array();
  std::map<std::string, std::size_t> place;
  {
    const OpWatch watch([&](const OpSight& op) {
      json note = note_of(op);
      const auto [at, added] = place.try_emplace(note.dump(), all.size());
      if (added) all.push_back({{"op", std::move(note)}, {"count", 0}});
      json& count = all[at->second]["count"];
      count = count.get<int>() + 1;
    });
    model->forward(nullptr);
  }
  return {{"audit", std::move(all)}};
}

}  // namespace bic::libtorch
