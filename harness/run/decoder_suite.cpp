#include "harness/run/decoder_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/judge/decoder_judge.h"
#include "harness/judge/row_status.h"
#include "harness/workers/interrupt.h"
#include "results_schema/report_schema.h"
#include "suites/models/decoder/preset_names.h"

namespace bic {
namespace {

using report::DecoderQuestion;
using report::DecoderRow;

DecoderRow died(const DecoderQuestion& question, const Death& death) {
  DecoderRow row{.question = question};
  bury(row, death);
  return row;
}

DecoderRow failed(const DecoderQuestion& question, const std::string& why) {
  return died(question, {.reason = Reason::kException, .message = why});
}

/// What the worker's answer comes to; one that is none is the subject's doing.
DecoderRow read(const DecoderQuestion& question, const nlohmann::json& answer) {
  const std::string wrong = report::decoder_answer_error(answer);
  if (!wrong.empty()) return failed(question, "the worker's answer is malformed: " + wrong);
  return judge_decoder(question, answer.get<report::DecoderAnswer>());
}

bool is_selected(std::string_view preset, const Selection& selection) {
  if (selection.presets.empty()) return preset != decoder::kPresets.back();
  return std::ranges::find(selection.presets, preset) != selection.presets.end();
}

}  // namespace

std::vector<DecoderQuestion> decoder_questions(const Selection& selection, Seed seed) {
  std::vector<DecoderQuestion> questions;
  if (!selection.decoders) return questions;
  for (const std::string_view preset : decoder::kPresets) {
    if (!is_selected(preset, selection)) continue;
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      const auto& dtypes = selection.dtypes;
      if (std::ranges::find(dtypes, dtype) == dtypes.end()) continue;
      questions.push_back({.preset = std::string(preset),
                           .dtype = dtype,
                           .seed = derive(derive(seed, kDecoderStudy), preset),
                           .requests = 200,
                           .others = 40,
                           .new_tokens = 16});
    }
  }
  return questions;
}

bool DecoderSuite::is_able() const {
  return std::ranges::find(hello_.studies, kDecoderStudy) != hello_.studies.end();
}

DecoderRow DecoderSuite::ask_worker(const DecoderQuestion& question) {
  const std::int64_t before = worker_.killed();
  try {
    const auto answer = worker_.ask(kDecoderStudy, question, protocol::SharedMemory::create(0));
    const Death* const death = std::get_if<Death>(&answer);
    DecoderRow row = death == nullptr ? read(question, std::get<nlohmann::json>(answer))
                                      : died(question, *death);
    row.killed_workers = worker_.killed() - before;
    return row;
  } catch (const UsageError& e) {
    return failed(question, e.what());
  }
}

DecoderRow DecoderSuite::ask(const DecoderQuestion& question) {
  if (is_able()) return ask_worker(question);
  return {.question = question,
          .status = Status::kUnsupported,
          .message = fmt::format("the backend makes no study '{}'", kDecoderStudy)};
}

void DecoderSuite::ask(const std::vector<DecoderQuestion>& questions,
                       const std::function<bool()>& stopped,
                       const std::function<void(DecoderRow)>& take) {
  for (DecoderQuestion question : questions) {
    question.threads = hello_.default_threads;
    std::optional<DecoderRow> row = journal_.decoder(question);
    if (!row) {
      if (stopped()) break;
      try {
        row = ask(question);
      } catch (const Interrupted&) {
        break;
      }
      journal_.keep(*row);
    }
    take(std::move(*row));
  }
}

}  // namespace bic
