#include <nlohmann/json.hpp>

#include "results_schema/optional_json.h"
#include "results_schema/report_json.h"

using nlohmann::json;

namespace bic::report {

void to_json(json& j, const Throughput& t) {
  j = {{"backend_ns", t.backend_ns},
       {"stock_ns", t.stock_ns},
       {"ratio_ppm", t.ratio_ppm},
       {"spread_ppm", t.spread_ppm},
       {"shape", t.shape},
       {"unit", t.unit},
       {"work", t.work},
       {"digest_matches", t.digest_matches}};
  put_if(j, "ratios_ppm", t.ratios_ppm);
  put_if(j, "backend_blocks_ns", t.backend_blocks_ns);
  put_if(j, "stock_blocks_ns", t.stock_blocks_ns);
}

void from_json(const json& j, Throughput& t) {
  j.at("backend_ns").get_to(t.backend_ns);
  j.at("stock_ns").get_to(t.stock_ns);
  j.at("ratio_ppm").get_to(t.ratio_ppm);
  j.at("spread_ppm").get_to(t.spread_ppm);
  j.at("shape").get_to(t.shape);
  j.at("unit").get_to(t.unit);
  j.at("work").get_to(t.work);
  j.at("digest_matches").get_to(t.digest_matches);
  get_if(j, "ratios_ppm", t.ratios_ppm);
  get_if(j, "backend_blocks_ns", t.backend_blocks_ns);
  get_if(j, "stock_blocks_ns", t.stock_blocks_ns);
}

}  // namespace bic::report
