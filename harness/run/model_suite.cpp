#include "harness/run/model_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <nlohmann/json.hpp>

#include "harness/judge/judging.h"
#include "harness/judge/row_status.h"
#include "harness/trace/audit.h"
#include "harness/trace/model_accuracy.h"
#include "harness/workers/interrupt.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using report::ModelRow;

constexpr const char* kModel = "pi0";
constexpr std::int64_t kRequests = 3;  // of texts of three lengths
constexpr std::int64_t kRoom = std::int64_t{1} << 32;

/// The orders in which stock evaluates a model; the first is the one in which weights are stored.
constexpr std::array kOrders{"stored", "reversed"};

/// Thrown by what asks a worker that dies of it.
struct Died {
  Death death;
};

AskStudy ask_of(StudyWorker& worker) {
  return [&worker](const std::string& study,
                   const nlohmann::json& request,
                   const protocol::SharedMemory& room) {
    auto answer = worker.ask(study, request, room);
    if (const Death* const death = std::get_if<Death>(&answer)) throw Died{*death};
    return std::get<nlohmann::json>(std::move(answer));
  };
}

/// One thread: the backend is asked at the same time.
TracedRun stock_run(StudyWorker& stock, ModelChoice choice, const char* order, bool in_double) {
  choice.order = order;
  choice.in_double = in_double;
  return TracedModel(ask_of(stock), choice, kRoom).whole(kRequests, 1);
}

/// What stock makes of a model. Throws HarnessError where it cannot.
std::vector<StockRun> stock_runs(StudyWorker& stock, const ModelChoice& choice) {
  std::vector<StockRun> runs;
  try {
    for (const char* order : kOrders) {
      runs.push_back({stock_run(stock, choice, order, false), {}});
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].exact = stock_run(stock, choice, kOrders[i], true);
    }
  } catch (const Died& died) {
    throw HarnessError(fmt::format(
        "stock died of model {} {}: {}", choice.preset, choice.dtype, died.death.message));
  } catch (const UsageError& e) {
    throw HarnessError(fmt::format("stock: {}", e.what()));
  }
  return runs;
}

void judge(ModelRow& row, const TracedRun& subject, const std::vector<StockRun>& stock) {
  row.accuracy = judge_tensors(row.dtype, subject, stock);
  row.status = row.accuracy->beyond == 0 ? Status::kPass : Status::kFail;
  if (row.status == Status::kFail) row.reasons = {Reason::kAccuracy};
  row.message = text_of(*row.accuracy);
}

}  // namespace

std::vector<ModelChoice> model_questions(const Selection& selection) {
  std::vector<ModelChoice> questions;
  for (const OpSpec* const op : selection.ops) {
    if (op->suite != kModel) continue;
    for (const Variant& v : op->variants) {
      if (v.on_request || !selection.takes_preset(v)) continue;
      for (const DType dtype : op->dtypes) {
        const bool named = std::ranges::find(selection.dtypes, dtype) != selection.dtypes.end();
        if (!named || !selection.takes(*op, v, kAccuracyRelation, dtype)) continue;
        questions.push_back(
            {.model = kModel, .preset = preset_name(v), .dtype = std::string(name(dtype))});
      }
    }
  }
  return questions;
}

std::vector<ModelChoice> ModelSuite::asked(const std::vector<ModelChoice>& questions) const {
  const auto makes = [&](const char* study) {
    return std::ranges::find(hello_.studies, study) != hello_.studies.end();
  };
  std::vector<ModelChoice> all;
  if (hello_.device != "cpu" || !makes("audit") || !makes("trace")) return all;
  std::ranges::copy_if(questions, std::back_inserter(all), [&](const ModelChoice& q) {
    return promise_of(hello_, q.model, *parse_dtype(q.dtype)).has_value();
  });
  return all;
}

ModelRow ModelSuite::row_of(ModelChoice choice) {
  if (weights_ && weights_->preset == choice.preset) choice.weights = weights_->file;
  ModelRow row{.model = choice.model, .preset = choice.preset, .dtype = *parse_dtype(choice.dtype)};
  auto stock = std::async(std::launch::async, [&] { return stock_runs(stock_, choice); });
  try {
    const AskStudy ask = ask_of(backend_);
    row.ops = summary(audit(ask, choice, kRequests, own_overloads(hello_)));
    const TracedRun subject =
        TracedModel(ask, choice, kRoom).whole(kRequests, hello_.default_threads);
    judge(row, subject, stock.get());
  } catch (const Died& died) {
    bury(row, died.death);
  } catch (const UsageError& e) {  // what the backend says of the model
    bury(row, {.reason = Reason::kException, .message = e.what()});
  } catch (const HarnessError& e) {
    row.message = e.what();
  }
  return row;
}

void ModelSuite::ask(const std::vector<ModelChoice>& questions,
                     const std::function<bool()>& stopped,
                     const std::function<void(ModelRow)>& take) {
  for (const ModelChoice& question : questions) {
    if (stopped()) return;
    try {
      take(row_of(question));
    } catch (const Interrupted&) {
      return;
    }
  }
}

}  // namespace bic
