#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/flags.h"
#include "harness/files/text_file.h"
#include "results_schema/error.h"
#include "results_schema/signing/key.h"

namespace bic {
namespace {

signing::KeyType key_type(const std::string& text) {
  using signing::KeyType;
  for (const KeyType type : {KeyType::kP256, KeyType::kEd25519}) {
    if (text == signing::name(type)) return type;
  }
  throw UsageError(fmt::format("--type: '{}' is neither 'p256' nor 'ed25519'", text));
}

}  // namespace

int keygen_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Makes a key pair to sign with.", "bi-conform keygen");
  std::string name, type = "p256";
  app.add_option("name", name, "files NAME.pem, to be kept secret, and NAME.pub.pem")->required();
  app.add_option("--type", type, "p256 (default: ECDSA) or ed25519");
  parse(app, arguments);
  const auto key = signing::PrivateKey::generate(key_type(type));
  const signing::PublicKey shown = key.public_key();
  write_text(name + ".pem", key.pem(), true);
  write_text(name + ".pub.pem", shown.pem());
  fmt::print("{0}.pem: keep it secret\n{0}.pub.pem: keyid {1}\nin a policy: {2}\n",
             name,
             shown.keyid(),
             nlohmann::json(shown.pem()).dump());
  return 0;
}

}  // namespace bic
