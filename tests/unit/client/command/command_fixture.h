// SPDX-License-Identifier: Apache-2.0
// The whole `reel` command in the test's own process, against a fake server.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "client/command/command_line.h"
#include "tests/fakes/fake_video_service.h"

namespace reel::client {

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "command_line_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    environment_.version = "0.1.0";
    environment_.server = server_.address();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `device` takes stdout in place of a file.
  int Run(const std::vector<std::string>& arguments, const std::string& device = "") {
    std::FILE* out = std::fopen((device.empty() ? folder_ + "/out" : device).c_str(), "wb");
    std::FILE* err = std::fopen((folder_ + "/err").c_str(), "wb");
    const int code = RunCommandLine(arguments, environment_, out, err);
    std::fclose(out);
    std::fclose(err);
    out_ = ReadAll(folder_ + "/out");
    err_ = ReadAll(folder_ + "/err");
    return code;
  }

  fakes::FakeVideoService server_;
  Environment environment_;
  std::string folder_, out_, err_;
};

}  // namespace reel::client
