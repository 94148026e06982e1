#pragma once

#include <nlohmann/json.hpp>

namespace bic {

/// The suite's ops, so that a worker can say which of them it serves without knowing them.
nlohmann::json hello_request();

}  // namespace bic
