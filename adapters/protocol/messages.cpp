#include "adapters/protocol/messages.h"

#include <nlohmann/json.hpp>

#include "results_schema/error.h"

namespace nlohmann {

template <>
struct adl_serializer<bic::DType> {
  static void to_json(json& j, bic::DType t) { j = std::string(bic::name(t)); }
  static void from_json(const json& j, bic::DType& t) {
    const auto parsed = bic::parse_dtype(j.get<std::string>());
    if (!parsed) throw bic::HarnessError("protocol: unknown dtype " + j.dump());
    t = *parsed;
  }
};

template <>
struct adl_serializer<bic::Arithmetic> {
  static void to_json(json& j, const bic::Arithmetic& a) {
    j = {{"accumulator", a.accumulator},
         {"elementary_ulps", a.elementary_ulps},
         {"form", a.form},
         {"flushes_subnormals", a.flushes_subnormals},
         {"source", a.source}};
  }
  static void from_json(const json& j, bic::Arithmetic& a) {
    a.accumulator = j.at("accumulator").get<bic::DType>();
    a.elementary_ulps = j.at("elementary_ulps");
    a.form = j.at("form");
    a.flushes_subnormals = j.at("flushes_subnormals");
    a.source = j.at("source");
  }
};

}  // namespace nlohmann

namespace bic::protocol {
using nlohmann::json;

namespace {

std::string_view name(Outcome o) {
  return o == Outcome::kRan ? "ran" : o == Outcome::kRefused ? "refused" : "exception";
}

Outcome parse_outcome(const std::string& text) {
  for (Outcome o : {Outcome::kRan, Outcome::kRefused, Outcome::kException}) {
    if (text == name(o)) return o;
  }
  throw HarnessError("protocol: unknown outcome '" + text + "'");
}

std::string_view storage_name(Storage s) {
  constexpr std::string_view kNames[] = {"row-major", "transposed", "outer-swapped", "expanded"};
  return kNames[static_cast<std::size_t>(s)];
}

Storage parse_storage(const std::string& text) {
  for (Storage s :
       {Storage::kRowMajor, Storage::kTransposed, Storage::kOuterSwapped, Storage::kExpanded}) {
    if (text == storage_name(s)) return s;
  }
  throw HarnessError("protocol: unknown storage '" + text + "'");
}

Form read_form(const json& j) {
  const auto form = parse_form(j.get<std::string>());
  if (!form) throw HarnessError("protocol: unknown form " + j.dump());
  return *form;
}

void to_json(json& j, const TensorMessage& m) {
  j = {{"name", m.name},
       {"axes", m.axes},
       {"elements", m.elements},
       {"pool_offset", m.pool_offset},
       {"pool_stride", m.pool_stride},
       {"masks", m.masks}};
}

void from_json(const json& j, TensorMessage& m) {
  m.name = j.at("name");
  m.axes = j.at("axes").get<std::vector<std::string>>();
  m.elements = j.at("elements");
  m.pool_offset = j.at("pool_offset");
  m.pool_stride = j.at("pool_stride");
  m.masks = j.at("masks");
}

void to_json(json& j, const Witness& w) {
  j = {{"address_mod_64", w.address_mod_64},
       {"strides", w.strides},
       {"shapes", w.shapes},
       {"input_digest", w.input_digest},
       {"form", w.form},
       {"calls", w.calls},
       {"gave_output", w.gave_output},
       {"largest_team", w.largest_team},
       {"reached", w.reached}};
}

void from_json(const json& j, Witness& w) {
  w.address_mod_64 = j.at("address_mod_64").get<std::vector<std::int64_t>>();
  w.strides = j.at("strides").get<std::vector<std::vector<std::int64_t>>>();
  w.shapes = j.at("shapes").get<std::vector<std::vector<std::int64_t>>>();
  w.input_digest = j.at("input_digest");
  w.form = j.at("form");
  w.calls = j.at("calls");
  w.gave_output = j.at("gave_output");
  w.largest_team = j.at("largest_team");
  w.reached = j.at("reached").get<std::vector<std::string>>();
}

void to_json(json& j, const ManifestEntry& e) {
  json arithmetic = json::object();
  for (const auto& [dtype, a] : e.arithmetic) arithmetic[std::string(bic::name(dtype))] = a;
  json lacks = json::array();
  for (Form form : e.lacks) lacks.push_back(bic::name(form));
  j = {{"op", e.op},
       {"dtypes", e.dtypes},
       {"arithmetic", arithmetic},
       {"own", e.own},
       {"stock_reason", e.stock_reason},
       {"lacks", lacks}};
}

void from_json(const json& j, ManifestEntry& e) {
  e.op = j.at("op");
  e.dtypes = j.at("dtypes").get<std::vector<DType>>();
  for (const auto& [dtype, a] : j.at("arithmetic").items()) {
    e.arithmetic[json(dtype).get<DType>()] = a.get<Arithmetic>();
  }
  e.own = j.at("own").get<std::vector<std::string>>();
  e.stock_reason = j.at("stock_reason");
  for (const json& form : j.at("lacks")) e.lacks.push_back(read_form(form));
}

}  // namespace

void to_json(json& j, const Hello& h) {
  json manifest = json::array();
  for (const ManifestEntry& e : h.manifest) to_json(manifest.emplace_back(), e);
  j = {{"version", h.version},
       {"backend", h.backend},
       {"device", h.device},
       {"fingerprint", h.fingerprint},
       {"libraries", h.libraries},
       {"default_threads", h.default_threads},
       {"manifest", manifest}};
  if (!h.absent.empty()) j["absent"] = h.absent;
  if (!h.studies.empty()) j["studies"] = h.studies;
}

void from_json(const json& j, Hello& h) {
  h.version = j.at("version");
  h.backend = j.at("backend");
  h.device = j.at("device");
  h.fingerprint = j.at("fingerprint").get<std::map<std::string, std::string>>();
  h.libraries = j.at("libraries").get<std::vector<std::string>>();
  h.default_threads = j.at("default_threads");
  for (const json& e : j.at("manifest")) from_json(e, h.manifest.emplace_back());
  h.absent = j.value("absent", std::map<std::string, std::string>{});
  h.studies = j.value("studies", std::vector<std::string>{});
}

void to_json(json& j, const ProblemMessage& m) {
  json inputs = json::array(), output;
  for (const TensorMessage& t : m.inputs) to_json(inputs.emplace_back(), t);
  to_json(output, m.output);
  j = {{"op", m.op},
       {"variant", m.variant},
       {"dtype", m.dtype},
       {"dims", m.dims},
       {"attributes", m.attributes},
       {"calls", m.calls},
       {"inputs", inputs},
       {"output", output},
       {"reduced", m.reduced},
       {"pool_bytes", m.pool_bytes},
       {"output_bytes", m.output_bytes}};
}

void from_json(const json& j, ProblemMessage& m) {
  m.op = j.at("op");
  m.variant = j.at("variant");
  m.dtype = j.at("dtype").get<DType>();
  m.dims = j.at("dims").get<Dims>();
  m.attributes = j.at("attributes").get<Attributes>();
  m.calls = j.at("calls").get<std::map<std::string, std::string>>();
  for (const json& t : j.at("inputs")) from_json(t, m.inputs.emplace_back());
  from_json(j.at("output"), m.output);
  m.reduced = j.at("reduced").get<std::vector<std::string>>();
  m.pool_bytes = j.at("pool_bytes");
  m.output_bytes = j.at("output_bytes");
}

void to_json(json& j, const TrialMessage& m) {
  const Trial& t = m.trial;
  j = {{"slots", m.slots},
       {"offset", t.offset},
       {"row_gap", t.row_gap},
       {"storage", storage_name(t.storage)},
       {"form", bic::name(t.form)},
       {"pad_dim", t.pad_dim},
       {"pad", t.pad},
       {"pad_nan", t.pad_nan},
       {"threads", m.threads}};
  if (t.form == Form::kGraph) j["replay"] = t.run;
}

void from_json(const json& j, TrialMessage& m) {
  m.slots = j.at("slots").get<std::vector<std::uint32_t>>();
  m.trial.batch = static_cast<std::int64_t>(m.slots.size());
  m.trial.offset = j.at("offset");
  m.trial.row_gap = j.at("row_gap");
  m.trial.storage = parse_storage(j.at("storage"));
  m.trial.form = read_form(j.at("form"));
  m.trial.pad_dim = j.at("pad_dim");
  m.trial.pad = j.at("pad");
  m.trial.pad_nan = j.at("pad_nan");
  m.trial.run = j.value("replay", 0);
  m.threads = j.at("threads");
}

void to_json(json& j, const TrialReply& r) {
  json witness;
  to_json(witness, r.witness);
  j = {{"outcome", name(r.outcome)},
       {"message", r.message},
       {"dtype", r.dtype},
       {"shape", r.shape},
       {"unwritten", r.unwritten},
       {"input_changed", r.input_changed},
       {"out_of_bounds", r.out_of_bounds},
       {"witness", witness}};
}

void from_json(const json& j, TrialReply& r) {
  r.outcome = parse_outcome(j.at("outcome"));
  r.message = j.at("message");
  r.dtype = j.at("dtype");
  r.shape = j.at("shape").get<std::vector<std::int64_t>>();
  r.unwritten = j.at("unwritten");
  r.input_changed = j.at("input_changed");
  r.out_of_bounds = j.at("out_of_bounds");
  from_json(j.at("witness"), r.witness);
}

void to_json(json& j, const TimeMessage& m) {
  to_json(j, m.trial);
  j["calls"] = m.calls;
  j["copies"] = m.copies;
  j["copies_common"] = m.copies_common;
}

void from_json(const json& j, TimeMessage& m) {
  from_json(j, m.trial);
  m.calls = j.at("calls");
  m.copies = j.at("copies");
  m.copies_common = j.at("copies_common");
}

void to_json(json& j, const TimeReply& r) {
  j = {{"outcome", name(r.outcome)}, {"message", r.message}, {"nanoseconds", r.nanoseconds}};
}

void from_json(const json& j, TimeReply& r) {
  r.outcome = parse_outcome(j.at("outcome"));
  r.message = j.at("message");
  r.nanoseconds = j.at("nanoseconds");
}

}  // namespace bic::protocol
