// Envelopes that somebody changed: each is refused, or what is believed is the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "results_schema/signing/base64.h"
#include "results_schema/signing/example.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;

constexpr int kMutations = 10'000;  // of each kind that is drawn

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t count) { return engine_() % count; }
  char byte() { return static_cast<char>(engine_()); }

 private:
  std::mt19937_64 engine_;
};

void change_byte(std::string& text, Random& random) {
  if (text.empty()) return;
  const std::size_t at = random.below(text.size());
  switch (random.below(4)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
      break;
    case 1:
      text[at] = random.byte();
      break;
    case 2:
      text.insert(at, 1, random.byte());
      break;
    default:
      text.erase(at, 1);
  }
}

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// What is believed: payloads, signer and what was said.
struct Belief {
  std::string keyid;
  std::string verdict;
  bool operator==(const Belief&) const = default;
};

/// A file of envelopes, and who accepts it.
class Subject {
 public:
  Subject(std::vector<Envelope> envelopes, std::string report, Policy policy)
      : report_(std::move(report)), policy_(std::move(policy)), envelopes_(std::move(envelopes)) {
    for (const Envelope& e : envelopes_) {
      lines_.push_back(envelope_text(e));
      payloads_.insert({e.payload_type, e.payload});
    }
    whole_ = belief(read_bundle(lines_text(lines_), "file"));
  }

  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<Envelope>& envelopes() const { return envelopes_; }

  /// Whether the text is refused. What is accepted must be the same belief in the same bytes.
  bool refuses(const std::string& text) const {
    try {
      const std::vector<Envelope> read = read_bundle(text, "file");
      EXPECT_EQ(belief(read), whole_) << text;
      for (const Envelope& e : read) {
        EXPECT_TRUE(payloads_.contains({e.payload_type, e.payload})) << text;
      }
      return false;
    } catch (const Refusal& refusal) {
      const std::string line = refusal.what();
      EXPECT_EQ(line.find('\n'), line.npos) << line;
      return true;
    }
  }

 private:
  Belief belief(const std::vector<Envelope>& envelopes) const {
    const Answer a = accept({report_, envelopes}, policy_);
    return {a.keyid,
            a.report ? summary_of(a.report->summary).dump()
                     : statement_text(statement_of(*a.certificate))};
  }

  std::string report_;
  Policy policy_;
  std::vector<Envelope> envelopes_;
  std::vector<std::string> lines_;
  std::set<std::pair<std::string, std::string>> payloads_;
  Belief whole_;
};

std::vector<Subject> subjects() {
  const Parties parties;
  const Policy policy = read_policy(parties.policy.dump(), "policy.json");
  const Submission submission = submit(good_report(), parties.reporter);
  const Answer answer = accept(submission, policy);
  const Certificate certificate = certify(
      {*answer.report}, policy, policy.policy, parties.certifier.public_key(), kStarted + kDay);
  std::vector<Subject> all;
  all.emplace_back(submission.envelopes, submission.report, policy);
  all.emplace_back(
      std::vector{seal(statement_text(statement_of(certificate)), parties.certifier)}, "", policy);
  return all;
}

using Change = void (*)(std::vector<std::string>& lines, Random& random);

/// A change of the JSON of one line.
template <class Edit>
void edit(std::vector<std::string>& lines, Random& random, Edit change) {
  std::string& line = lines[random.below(lines.size())];
  json object = json::parse(line);
  change(object);
  line = object.dump();
}

std::string& payload_in(json& object) { return object["payload"].get_ref<std::string&>(); }
std::string& signature_in(json& object) {
  return object["signatures"][0]["sig"].get_ref<std::string&>();
}

void to_url_safe(std::string& text) {
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
}

/// Changes that leave what is believed as it is, or not; the subject tells.
const Change kStructural[] = {
    [](auto& lines, Random& r) {
      lines.erase(lines.begin() + static_cast<long>(r.below(lines.size())));
    },
    [](auto& lines, Random& r) { lines.push_back(lines[r.below(lines.size())]); },
    [](auto& lines, Random& r) { std::swap(lines.front(), lines[r.below(lines.size())]); },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) {
                                   o["more"] = {{"x", 1}};
                                 }); },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { o["more"] = 1.5; }); },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { o.erase("payloadType"); }); },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { o["signatures"].clear(); }); },
    [](auto& lines, Random& r) {
      edit(lines, r, [](json& o) { o["signatures"][0].erase("keyid"); });
    },
    [](auto& lines, Random& r) {
      edit(lines, r, [](json& o) { o["signatures"][0]["keyid"] = "x"; });
    },
    [](auto& lines, Random& r) {
      edit(lines, r, [](json& o) { o["signatures"].push_back(o["signatures"][0]); });
    },
    [](auto& lines, Random& r) {
      edit(lines, r, [](json& o) {
        o["signatures"].insert(o["signatures"].begin(), {{"sig", "AAAA"}});
      });
    },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { to_url_safe(payload_in(o)); }); },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { to_url_safe(signature_in(o)); }); },
    [](auto& lines, Random& r) {
      edit(lines, r, [&](json& o) { payload_in(o).insert(r.below(9), 1, '\n'); });
    },
    [](auto& lines, Random& r) { edit(lines, r, [](json& o) { o["payload"] = o["signatures"]; }); },
    [](auto& lines, Random& r) { lines[r.below(lines.size())] += "{}"; },
    [](auto& lines, Random& r) {
      std::string& line = lines[r.below(lines.size())];
      line.insert(1, R"("payload":"e30=",)");
    },
    [](auto& lines, Random& r) {
      std::string& line = lines[r.below(lines.size())];
      line = "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"dsseEnvelope\":" +
             line + "}";
    },
    [](auto& lines, Random& r) {
      std::string& line = lines[r.below(lines.size())];
      line.resize(r.below(line.size()));
    },
    [](auto& lines, Random& r) { lines.assign(1 + r.below(40), lines[0]); },
};

TEST(Mutations, OfBytesAreRefusedOrChangeNothing) {
  Random random(0xb1c0);
  int refused = 0;
  for (const Subject& subject : subjects()) {
    const std::string whole = lines_text(subject.lines());
    EXPECT_FALSE(subject.refuses(whole));
    for (int i = 0; i < kMutations / 2; ++i) {
      std::string text = whole;
      change_byte(text, random);
      refused += subject.refuses(text);
    }
  }
  // Keyids are a small part of the text, and whatever stands there is believed as little.
  EXPECT_GT(refused, kMutations * 8 / 10);
}

TEST(Mutations, OfStructureAreRefusedOrChangeNothing) {
  Random random(0xb1c1);
  int refused = 0, accepted = 0;
  for (const Subject& subject : subjects()) {
    for (int i = 0; i < kMutations / 2; ++i) {
      std::vector<std::string> lines = subject.lines();
      kStructural[random.below(std::size(kStructural))](lines, random);
      if (lines.empty()) continue;
      ++(subject.refuses(lines_text(lines)) ? refused : accepted);
    }
  }
  EXPECT_GT(refused, kMutations / 3);
  EXPECT_GT(accepted, kMutations / 10) << "changes of no importance are among them";
}

TEST(Mutations, OfWhatIsSignedAreAlwaysRefused) {
  Random random(0xb1c2);
  for (const Subject& subject : subjects()) {
    for (int i = 0; i < kMutations / 2; ++i) {
      std::vector<Envelope> envelopes = subject.envelopes();
      Envelope& e = envelopes[random.below(envelopes.size())];
      std::string* const parts[] = {&e.payload, &e.payload_type, &e.signatures[0].bytes};
      std::string& part = *parts[random.below(3)];
      const std::string before = part;
      while (part == before) change_byte(part, random);
      std::vector<std::string> lines;
      // A type that is no UTF-8 cannot be written; what reads as another text is refused too.
      for (const Envelope& envelope : envelopes) lines.push_back(envelope_text(envelope));
      EXPECT_TRUE(subject.refuses(lines_text(lines)));
    }
  }
}

TEST(Mutations, OfBase64ThatMeanTheSameBytesAreRefused) {
  for (const Subject& subject : subjects()) {
    for (std::size_t line = 0; line < subject.lines().size(); ++line) {
      for (auto* const part : {payload_in, signature_in}) {
        std::vector<std::string> lines = subject.lines();
        json object = json::parse(lines[line]);
        std::string& text = part(object);
        const std::size_t padding = text.find('=');
        if (padding == text.npos) continue;
        // The digit before the padding has bits to spare.
        const std::string digits =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        text[padding - 1] = digits[digits.find(text[padding - 1]) + 1];
        lines[line] = object.dump();
        EXPECT_TRUE(subject.refuses(lines_text(lines)));
      }
    }
  }
}

}  // namespace
}  // namespace bic::signing
