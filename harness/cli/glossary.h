#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bic {

/// Statuses, reasons and levels with a sentence each; every name of the vocabulary has one.
std::vector<std::pair<std::string, std::string>> glossary();

/// The laws by which inputs are drawn, and what each is for.
std::vector<std::pair<std::string, std::string>> law_rows();

}  // namespace bic
