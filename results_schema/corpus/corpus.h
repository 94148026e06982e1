#pragma once

// Internal, for tests: the files of this folder.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace bic::corpus {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::filesystem::path file(const std::string& name) {
  return std::filesystem::path(BIC_CORPUS) / name;
}

/// Those of one of its folders, by name; a folder that has lost its files fails the test.
inline std::vector<std::filesystem::path> files_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(file(folder))) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

}  // namespace bic::corpus
