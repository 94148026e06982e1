#pragma once

#include <nlohmann/json_fwd.hpp>

#include "results_schema/render/html/view.h"

namespace bic::report::page {

/// The chart of what `bi-conform trace --json` wrote (trace.schema.json, not an audit).
void add_trace(const nlohmann::json& trace, data& page);

}  // namespace bic::report::page
