#include "harness/workers/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace bic {
namespace {

std::string file_of(const std::string& name) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << name;
  return path.string();
}

// Where the system maps them changes from start to start, and with it the worker's order.
TEST(DescribeSubject, ListsLibrariesByNameWhateverTheWorkersOrder) {
  protocol::Hello hello;
  hello.libraries = {file_of("libb.so"), file_of("libc.so"), file_of("liba.so")};
  std::vector<std::string> names;
  for (const report::Library& l : describe_subject(hello).libraries) names.push_back(l.name);
  EXPECT_THAT(names, testing::ElementsAre("liba.so", "libb.so", "libc.so"));
}

}  // namespace
}  // namespace bic
