#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/run/resume.h"
#include "harness/workers/study_worker.h"

namespace bic {

/// The study that a worker is asked for.
inline constexpr const char* kDecoderStudy = "decoder";

/// What a run of that selection and seed asks, each preset in fp32 and in bf16: 200 requests of one
/// prompt for 16 tokens, among 40 others. The preset of full size is asked only where it is named.
/// `threads` stays 0.
std::vector<report::DecoderQuestion> decoder_questions(const Selection& selection, Seed seed);

/// Asks a backend.
class DecoderSuite {
 public:
  /// All must outlive it; `hello` is the backend's.
  DecoderSuite(StudyWorker& backend, const protocol::Hello& hello, RunJournal& journal)
      : worker_(backend), hello_(hello), journal_(journal) {}

  /// Gives `take` the rows of the questions, those of the journal taken from it and the others kept
  /// there. Ends early where `stopped`, which is asked before each question, says so.
  void ask(const std::vector<report::DecoderQuestion>& questions,
           const std::function<bool()>& stopped,
           const std::function<void(report::DecoderRow)>& take);

 private:
  bool is_able() const;
  report::DecoderRow ask(const report::DecoderQuestion& question);
  report::DecoderRow ask_worker(const report::DecoderQuestion& question);

  StudyWorker& worker_;
  const protocol::Hello& hello_;
  RunJournal& journal_;
};

}  // namespace bic
