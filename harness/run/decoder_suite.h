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

/// Asks a backend, in a worker of its own that is started when it is first needed.
class DecoderSuite {
 public:
  /// `hello`, which is the backend's, and the journal must outlive it.
  DecoderSuite(const WorkerLaunch& backend, const protocol::Hello& hello, RunJournal& journal)
      : hello_(hello), journal_(journal), worker_(backend) {}

  /// Gives `take` the rows of the questions, those of the journal taken from it and the others kept
  /// there. Ends early where `stopped`, which is asked before each question, says so.
  void ask(const std::vector<report::DecoderQuestion>& questions,
           const std::function<bool()>& stopped,
           const std::function<void(report::DecoderRow)>& take);

 private:
  bool is_able() const;
  report::DecoderRow ask(const report::DecoderQuestion& question);
  report::DecoderRow ask_worker(const report::DecoderQuestion& question);

  const protocol::Hello& hello_;
  RunJournal& journal_;
  StudyWorker worker_;
};

}  // namespace bic
