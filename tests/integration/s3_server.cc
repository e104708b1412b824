// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/s3_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/integration/free_ports.h"
#include "tests/integration/loopback.h"

namespace reel::tests {
namespace {

constexpr char kKey[] = "reel-test";

}  // namespace

std::string S3ServerPath() { return FindTool("versitygw"); }

S3Server::S3Server(std::string folder)
    : data_(folder.empty() ? folder_.File("data") : std::move(folder)), port_(FreePorts(1)[0]) {
  std::filesystem::create_directories(data_ + "/objects/reel");
  std::filesystem::create_directories(data_ + "/facts");
  WriteCredentials();
  Start();
}

void S3Server::Start() {
  program_ = std::make_unique<Program>(
      S3ServerPath(), std::vector<std::string>{"--quiet", "--access", kKey, "--secret", kSecret,
                                               "--port", absl::StrCat("127.0.0.1:", port_), "posix",
                                               "--sidecar", data_ + "/facts", data_ + "/objects"});
  ASSERT_TRUE(Eventually([&] {
    const int socket = ConnectTo(absl::StrCat("127.0.0.1:", port_));
    if (socket >= 0) ::close(socket);
    return socket >= 0;
  })) << program_->Errors();
}

void S3Server::Kill() {
  program_->Signal(SIGKILL);
  EXPECT_TRUE(program_->WaitForExit().ok());
}

void S3Server::Pause() {
  program_->Signal(SIGSTOP);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(program_->pid()), &info, WSTOPPED), 0);
}

void S3Server::Resume() { program_->Signal(SIGCONT); }

std::string S3Server::endpoint() const { return absl::StrCat("http://127.0.0.1:", port_); }

void S3Server::WriteCredentials(const std::string& secret) {
  const std::string next = folder_.Write("next", absl::StrCat(kKey, ":", secret, "\n"));
  ASSERT_EQ(::chmod(next.c_str(), 0600), 0);
  credentials_ = folder_.File("credentials");
  std::filesystem::rename(next, credentials_);
}

std::vector<std::string> S3Server::Keys(const std::string& prefix) const {
  const std::string root = data_ + "/objects/reel/";
  std::vector<std::string> keys;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, ignored)) {
    if (!entry.is_regular_file()) continue;
    const std::string key = entry.path().string().substr(root.size());
    // What it writes now lies in a folder of its own.
    if (key[0] != '.' && key.compare(0, prefix.size(), prefix) == 0) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void S3Server::Remove(const std::string& key) const {
  std::filesystem::remove(data_ + "/objects/reel/" + key);
}

std::string S3Server::Read(const std::string& key) const {
  std::ifstream in(data_ + "/objects/reel/" + key, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace reel::tests
