#pragma once

// The words of the case string's grammar, shared by its writer, its parser and the reader of files
// of named sizes.

#include <string>
#include <string_view>

#include "results_schema/case_name.h"

namespace bic::grammar {

/// Threads of a trial that asks for twice the cores: `t=over`.
inline constexpr int kOverThreads = -1;

/// [a-z][a-z0-9_]*: an op, a relation or an attribute.
bool is_name(std::string_view text);
/// [a-z0-9_]+: a variant.
bool is_variant(std::string_view text);
/// [a-z][a-z_]*: a dim, without digits since its number follows it.
bool is_dim(std::string_view text);
/// [a-z][a-z0-9]*: the id of a public report.
bool is_id(std::string_view text);
/// [A-Za-z0-9_.+-]+: an attribute's value; neither a separator nor a character of the shell.
bool is_value(std::string_view text);

/// One letter for `store=`; 0 for row-major.
char storage_letter(Storage storage);

/// The texts of single fields; the arguments are not checked.
std::string dims_text(const Dims& dims);
std::string attributes_text(const Attributes& attributes);
std::string trial_text(const Trial& trial);

/// What is wrong with a trial, as "position 3 is outside a batch of 3"; empty for a good one.
std::string trial_error(const Trial& trial);

}  // namespace bic::grammar
