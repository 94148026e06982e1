#pragma once

// Internal, for tests: small reports to compare.

#include <string>
#include <utility>
#include <vector>

#include "results_schema/compare/speed.h"
#include "results_schema/report.h"

namespace bic::report {

/// "mm.alone/fp32:k64:B7@3#42~B1#42:fill=cancel:s=…1"
inline std::string case_of(const std::string& op,
                           const std::string& relation,
                           int batch,
                           int seed = 1) {
  return op + "." + relation + "/fp32:k64:B" + std::to_string(batch) +
         "#42~B1#42:fill=cancel:s=000000000000000" + std::to_string(seed);
}

/// A complete report of these cases.
inline Report report_of(const std::vector<std::pair<std::string, Status>>& cases) {
  Report r;
  r.suite.version = "0.1.0";
  r.subject.backend = "plugin:x.so";
  r.subject.device = "cpu";
  r.environment.cpu = "Zen 3";
  r.run.plan = std::string(64, 'c');
  r.run.complete = true;
  for (const auto& [name, status] : cases) {
    r.cases.push_back({.case_name = name, .status = status, .digest = "00"});
    if (status == Status::kFail) r.cases.back().reasons = {Reason::kBits};
  }
  return r;
}

/// The same report under a plan of another seed.
inline Report of_another_plan(Report report) {
  report.run.plan = std::string(64, 'd');
  report.run.seed = Seed{7};
  return report;
}

/// A row of mm in fp32 that takes so long, as stock does, in every block.
inline OpRow timed_row(std::int64_t backend_ns, std::int64_t stock_ns = 1000) {
  OpRow row{.op = "mm", .level = Level::kSchedule};
  row.throughput = Throughput{.stock_ns = stock_ns, .shape = "B=33,k=64", .work = 100};
  row.throughput->backend_blocks_ns.assign(kPairsOfOneMeasurement, backend_ns);
  row.throughput->stock_blocks_ns.assign(kPairsOfOneMeasurement, stock_ns);
  return row;
}

}  // namespace bic::report
