#include "results_schema/signing/base64.h"

#include <gtest/gtest.h>

#include <random>

namespace bic::signing {
namespace {

TEST(Base64, HasTheTextsOfRfc4648) {
  const std::pair<const char*, const char*> texts[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : texts) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, ReadsWhatItWritesInBothAlphabets) {
  std::mt19937 random(7);
  for (int length = 0; length < 200; ++length) {
    std::string bytes;
    for (int i = 0; i < length; ++i) bytes += static_cast<char>(random());
    std::string text = to_base64(bytes);
    EXPECT_EQ(from_base64(text), bytes);
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, RefusesWhatIsNotTheOneTextOfItsBytes) {
  for (const char* text : {"Zg",        // no padding
                           "Zg=",       // too little
                           "Zm9v=",     // too much
                           "====",      // nothing but padding
                           "Z===",      // six bits
                           "Zh==",      // bits behind the last byte
                           "Zm9=",      // the same with one sign of padding
                           "Zg==Zg==",  // padding inside
                           "+_+_",      // two alphabets
                           "-A/A",      // two alphabets
                           "Zm9\n",     // a line end
                           " Zm9",      // white space
                           "Zm9v\n",    // behind it
                           "Zm\xc3\xa9"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bic::signing
