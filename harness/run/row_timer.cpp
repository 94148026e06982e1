#include "harness/run/row_timer.h"

#include "harness/workers/interrupt.h"
#include "results_schema/compare/speed.h"

namespace bic {

void RowTimer::offer(std::size_t row, JudgedProblem judged) {
  if (options_.timed && judged.record.timed) offered_.insert_or_assign(row, std::move(judged));
}

void RowTimer::time(const std::vector<Cell>& cells,
                    Jobs& jobs,
                    bool keep,
                    std::map<std::size_t, report::OpRow>& rows) {
  std::map<std::size_t, JudgedProblem> left = std::exchange(offered_, {});
  std::erase_if(left, [&](const auto& offered) {
    const Cell& cell = cells[offered.first];
    const auto known = journal_.timing(cell.op->name, cell.dtype);
    if (known) rows.at(offered.first).throughput = known;
    return known.has_value();
  });
  if (left.empty() || interrupted()) return;
  jobs.in_quiet([&] {
    try {
      for (auto& [row, judged] : left) {
        const Cell& cell = cells[row];
        const auto speed = rows.at(row).throughput = measure(cell, std::move(judged), rows.at(row));
        if (speed && keep) journal_.keep({cell.op->name, cell.dtype, *speed});
      }
    } catch (const Interrupted&) {
      // The rows stay without a time.
    }
  });
}

std::optional<report::Throughput> RowTimer::measure(const Cell& cell,
                                                    JudgedProblem judged,
                                                    report::OpRow row) {
  const auto again = [&] { return options_.measure_again && options_.measure_again(row); };
  if (!stock_) stock_ = std::make_unique<Stage>(options_.stock);
  if (!backend_) backend_ = std::make_unique<Stage>(options_.backend);
  if (!judged.timed) {  // of a journal: its samples are to be made again
    const auto number = static_cast<std::size_t>(judged.record.number);
    judged.prepared = prepare(cell.problems[number], options_.selection, options_.seed);
    judged.timed = trial_to_time(*judged.prepared);
  }
  const TimedTrial timed{std::move(judged.prepared), judged.timed.value(), *judged.record.timed};
  Blocks blocks;
  if (!add_blocks(*backend_, *stock_, timed, blocks)) return {};
  row.throughput = throughput_of(blocks, timed);
  // All measurements count together.
  for (int n = 1; n < report::kMostMeasurements && again(); ++n) {
    // What one process has for good, its memory's place among others, is drawn again.
    backend_->renew();
    stock_->renew();
    if (!add_blocks(*backend_, *stock_, timed, blocks)) return {};
    row.throughput = throughput_of(blocks, timed);
  }
  return row.throughput;
}

}  // namespace bic
