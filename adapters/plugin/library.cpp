#include "adapters/plugin/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <stdexcept>

#include "results_schema/error.h"

namespace bic::plugin {
namespace {

using protocol::ManifestEntry;

struct NamedType {
  std::string_view name;
  bic_dtype type;
};
constexpr NamedType kTypes[] = {{"fp32", {BIC_FLOAT, 32, 1}},
                                {"bf16", {BIC_BFLOAT, 16, 1}},
                                {"fp16", {BIC_FLOAT, 16, 1}},
                                {"fp64", {BIC_FLOAT, 64, 1}},
                                {"int64", {BIC_INT, 64, 1}},
                                {"bool", {BIC_BOOL, 8, 1}}};

bool same(bic_dtype a, bic_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw std::runtime_error("the plug-in " + fmt::format(text, std::forward<Parts>(parts)...));
}

/// Of a struct that the plug-in made: a newer one may mean what this program does not know.
void check_head(const char* what, std::uint32_t size, std::uint32_t version, std::size_t expected) {
  if (version == 0 || version > BIC_PLUGIN_VERSION) {
    refuse("has a {} of version {} of bi_conform_plugin.h; this program speaks {}",
           what,
           version,
           BIC_PLUGIN_VERSION);
  }
  if (size < expected) refuse("has a {} of {} bytes, not {}", what, size, expected);
}

void check_text(const char* what, const char* text) {
  if (text == nullptr || *text == '\0') refuse("states no {}", what);
}

/// The dtype that a claim states, or its accumulator's.
DType claimed_dtype(const bic_claim& claim, bic_dtype type) {
  if (const auto dtype = parse_dtype(dtype_name(type))) return *dtype;
  refuse("claims {} with type {}, which is none of fp32, bf16, fp16, fp64",
         claim.op,
         dtype_name(type));
}

void check_claim(const bic_claim* claim) {
  if (claim == nullptr) refuse("has a null claim");
  check_head("bic_claim", claim->struct_size, claim->version, sizeof *claim);
  check_text("op in a claim", claim->op);
  check_text("source of its arithmetic", claim->source);
  if (claim->form == nullptr) refuse("has a null form in its claim of {}", claim->op);
  if (claim->elementary_ulps < 0) refuse("claims {} with an error below 0 ulp", claim->op);
}

/// What cannot be asked of a plug-in: calls of several steps, and in place unless it says so.
ManifestEntry entry_of(const bic_claim& claim) {
  ManifestEntry e{.op = claim.op, .own = {std::string("plugin::") + claim.op}};
  e.lacks = {Form::kChunk, Form::kVector};
  if (claim.inplace == 0) e.lacks.push_back(Form::kInplace);
  return e;
}

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  const auto note = [](dl_phdr_info* object, std::size_t, void* all) {
    if (*object->dlpi_name == '/') {
      static_cast<std::vector<std::string>*>(all)->emplace_back(object->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(note, &files);
  return files;
}

}  // namespace

std::string dtype_name(bic_dtype type) {
  for (const NamedType& t : kTypes) {
    if (same(t.type, type)) return std::string(t.name);
  }
  return fmt::format("{{{}, {}, {}}}", type.code, type.bits, type.lanes);
}

bic_dtype dtype_of(const std::string& elements) {
  const auto* const at = std::ranges::find(kTypes, elements, &NamedType::name);
  if (at == std::end(kTypes)) throw HarnessError("no tensor has elements '" + elements + "'");
  return at->type;
}

std::filesystem::path plugin_path(const std::string& backend) {
  constexpr std::string_view kPrefix = "plugin:";
  if (backend.starts_with(kPrefix)) return backend.substr(kPrefix.size());
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&plugin_path), &here);
  const auto folder = std::filesystem::canonical(here.dli_fname).parent_path();
  return folder / "external" / (backend + ".so");
}

Library::Library(const std::string& path) {
  const std::vector<std::string> before = loaded_files();
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(std::string("cannot load it: ") + dlerror());
  void* const entry = dlsym(handle, "bi_conform_plugin");
  if (entry == nullptr) refuse("exports no bi_conform_plugin");
  plugin_ = reinterpret_cast<decltype(&bi_conform_plugin)>(entry)(BIC_PLUGIN_VERSION);
  if (plugin_ == nullptr) {
    refuse("does not serve version {} of bi_conform_plugin.h", BIC_PLUGIN_VERSION);
  }
  check();
  read_claims();
  for (const std::string& file : loaded_files()) {
    if (std::ranges::find(before, file) == before.end()) files_.push_back(file);
  }
}

void Library::check() const {
  check_head("bic_plugin", plugin_->struct_size, plugin_->version, sizeof *plugin_);
  check_text("name", plugin_->name);
  check_text("release", plugin_->release);
  if (plugin_->run == nullptr) refuse("has a null run");
  if (plugin_->claim_count < 1) refuse("claims no op");
  if (plugin_->claims == nullptr) refuse("has a null table of claims");
}

void Library::read_claims() {
  for (std::int32_t i = 0; i < plugin_->claim_count; ++i) {
    const bic_claim* const claim = plugin_->claims[i];
    check_claim(claim);
    auto entry = std::ranges::find(manifest_, claim->op, &ManifestEntry::op);
    if (entry == manifest_.end()) entry = manifest_.insert(entry, entry_of(*claim));
    const DType dtype = claimed_dtype(*claim, claim->dtype);
    const Arithmetic arithmetic{.accumulator = claimed_dtype(*claim, claim->accumulator),
                                .elementary_ulps = claim->elementary_ulps,
                                .form = claim->form,
                                .flushes_subnormals = claim->flushes_subnormals != 0,
                                .source = claim->source};
    if (entry->lacks != entry_of(*claim).lacks) refuse("claims {} in place and not", claim->op);
    if (!entry->arithmetic.emplace(dtype, arithmetic).second) {
      refuse("claims {} in {} twice", claim->op, name(dtype));
    }
    entry->dtypes.push_back(dtype);
  }
}

std::string Library::title() const { return fmt::format("{} {}", plugin_->name, plugin_->release); }

std::string Library::error_of(int code) const {
  const char* const text = plugin_->last_error == nullptr ? nullptr : plugin_->last_error();
  if (text == nullptr || *text == '\0') return fmt::format("the plug-in returned {}", code);
  const std::string_view line(text);
  return std::string(line.substr(0, line.find('\n')));
}

}  // namespace bic::plugin
