#pragma once

// Internal to the renderer of HTML: what its parts share. Each part makes the values that one
// section of page.html names; all markup is there, and all text is escaped by the template.

#include <cstdint>
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/report.h"

namespace bic::report::page {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

/// "218,521".
std::string count_text(std::int64_t count);

/// A coordinate or a length: "12.5", "3".
std::string length_text(double length);

/// "19.6 %".
std::string percent_text(std::int64_t ppm);

/// How a row of the report is shown: a class of page.css and a mark that says it without colour.
struct RowState {
  std::string name;  ///< ok, red, weak or none
  std::string mark;
};
RowState state_of(const OpRow& row, Level target);

/// The ops of the report in its order, and each one's rows by their place in it.
struct OpRows {
  std::string op;
  std::vector<std::size_t> rows;
};
std::vector<OpRows> by_op(const Report& report);

/// Lists with the ones under them, by the names that page.html uses.
void add_summary(const Report& report, data& page);
void add_matrix(const Report& report, data& page);
void add_failing_ops(const Report& report, data& page);
void add_error_plot(const Report& report, data& page);
void add_speed_plot(const Report& report, data& page);
void add_op_table(const Report& report, data& page);
void add_facts(const Report& report, data& page);

}  // namespace bic::report::page
