#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/run/resume.h"
#include "harness/workers/worker.h"

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
  /// All must outlive it; `hello` is the backend's.
  DecoderSuite(const WorkerLaunch& backend, const protocol::Hello& hello, RunJournal& journal)
      : backend_(backend), hello_(hello), journal_(journal) {}

  /// The rows of the questions, those of the journal taken from it and the others kept there;
  /// `show` sees each. Ends early where `stopped`, which is asked before each question, says so.
  std::vector<report::DecoderRow> ask(const std::vector<report::DecoderQuestion>& questions,
                                      const std::function<bool()>& stopped,
                                      const std::function<void(const report::DecoderRow&)>& show);

 private:
  bool is_able() const;
  report::DecoderRow ask(const report::DecoderQuestion& question);
  report::DecoderRow ask_worker(const report::DecoderQuestion& question);

  const WorkerLaunch& backend_;
  const protocol::Hello& hello_;
  RunJournal& journal_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace bic
