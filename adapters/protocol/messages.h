#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reference_kernels/oracle/reference.h"
#include "results_schema/case_name.h"

namespace bic::protocol {

/// Version of the messages; a worker of another version is refused.
inline constexpr int kVersion = 4;

/// What a worker says of one op before any input exists.
struct ManifestEntry {
  std::string op;
  std::vector<DType> dtypes;
  std::map<DType, Arithmetic> arithmetic;
  std::vector<std::string>
      own;                   ///< overloads that are the backend's own: "aten::mm", "aten::mm.out"
  std::string stock_reason;  ///< why stock serves it, when `own` is empty; else empty
  std::vector<Form> lacks;   ///< forms that it does not claim: cases of them are unsupported
};

/// First message of a worker.
struct Hello {
  int version = kVersion;
  std::string backend;
  std::string device;                              ///< "cpu"
  std::map<std::string, std::string> fingerprint;  ///< versions and settings that can change a bit
  std::vector<std::string> libraries;              ///< paths of the subject's shared objects
  int default_threads = 1;
  std::vector<ManifestEntry> manifest;
  std::map<std::string, std::string> absent;  ///< why an op that it might have is not claimed
  std::vector<std::string> studies;  ///< of whole models, which it can make (see `Backend::study`)
};

/// One tensor of the loaded problem; axes as in results_schema/axis.h.
struct TensorMessage {
  std::string name;
  std::vector<std::string> axes;
  std::string elements = "fp32";  ///< a dtype's name, "int64" or "bool"
  std::int64_t pool_offset = 0;   ///< bytes from the pool's start to sample 0's block, row-major
  std::int64_t pool_stride = 0;   ///< bytes from one sample's block to the next; 0: common
  bool masks = false;             ///< padding appends -Inf
};

/// Loads a problem: declaration and pool. The pool's memory comes beside it as a descriptor.
struct ProblemMessage {
  std::string op;
  std::string variant;
  DType dtype = DType::kFloat32;
  Dims dims;
  Attributes attributes;
  std::map<std::string, std::string> calls;  ///< by form's name: "functional", "out", "inplace"
  std::vector<TensorMessage> inputs;
  TensorMessage output;
  std::vector<std::string> reduced;
  std::int64_t pool_bytes = 0;
  std::int64_t output_bytes = 0;  ///< room for the largest trial's output, in a second descriptor
};

/// Runs one trial of the loaded problem.
struct TrialMessage {
  std::vector<std::uint32_t> slots;  ///< pool index of each position of the batch
  Trial trial;                       ///< layout, form, padding; its batch plan is `slots`
  int threads = 1;
};

/// What shows that a trial was what it claims to be.
struct Witness {
  std::vector<std::int64_t> address_mod_64;        ///< of the first element, by input
  std::vector<std::vector<std::int64_t>> strides;  ///< as the op saw them, by input
  std::vector<std::vector<std::int64_t>> shapes;   ///< likewise
  std::uint64_t input_digest = 0;                  ///< of the inputs that the batch brings
  std::string form;                                ///< name of the call's form that ran
  std::int64_t calls = 0;                          ///< of the op in this process, this one included
  bool gave_output = false;                        ///< the output given is the one written
  int largest_team = 0;                            ///< of any parallel region; -1: cannot be seen
  std::vector<std::string> reached;                ///< overloads that ran, "aten::mm.out"
};

enum class Outcome : std::uint8_t { kRan, kRefused, kException };

/// Answer to a trial; the output's bytes lie row-major in the shared output memory.
struct TrialReply {
  Outcome outcome = Outcome::kRan;
  std::string message;  ///< of a refusal or an exception, one line
  std::string dtype;    ///< name of the output's dtype, "int64" and the like included
  std::vector<std::int64_t> shape;
  std::int64_t unwritten = 0;  ///< elements that still hold the poison
  bool input_changed = false;  ///< an input that the form does not alias has other bytes now
  bool out_of_bounds = false;  ///< a guard beside a tensor was overwritten
  Witness witness;
};

/// Times a trial: `blocks` blocks of `calls` calls each, over buffers rotated through `copies`
/// sets.
struct TimeMessage {
  TrialMessage trial;
  int calls = 1;
  int copies = 1;              ///< sets of tensors, which the calls take in turn
  bool copies_common = false;  ///< each with common inputs of its own: none is found in a cache
};

struct TimeReply {
  Outcome outcome = Outcome::kRan;
  std::string message;
  std::int64_t nanoseconds = 0;  ///< of all calls
};

void to_json(nlohmann::json&, const Hello&);
void from_json(const nlohmann::json&, Hello&);
void to_json(nlohmann::json&, const ProblemMessage&);
void from_json(const nlohmann::json&, ProblemMessage&);
void to_json(nlohmann::json&, const TrialMessage&);
void from_json(const nlohmann::json&, TrialMessage&);
void to_json(nlohmann::json&, const TrialReply&);
void from_json(const nlohmann::json&, TrialReply&);
void to_json(nlohmann::json&, const TimeMessage&);
void from_json(const nlohmann::json&, TimeMessage&);
void to_json(nlohmann::json&, const TimeReply&);
void from_json(const nlohmann::json&, TimeReply&);

}  // namespace bic::protocol
