// SPDX-License-Identifier: Apache-2.0
// A real S3 server on a free port of this machine, started, killed and filled at will.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/temp_folder.h"
#include "tests/integration/program.h"

namespace reel::tests {

// Of deploy/build/setup --fleet, or the system's; empty: there is none.
std::string S3ServerPath();

// Confined to the test's thread.
class S3Server {
 public:
  // With the bucket "reel". `folder`: where its objects lie; empty: one of its own.
  explicit S3Server(std::string folder = "");
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  // Returns when it answers.
  void Start();
  void Kill();
  // Returns when it stands still.
  void Pause();
  void Resume();

  std::string endpoint() const;
  // A file of credentials that it takes, or does not; replaced in one step.
  const std::string& credentials_file() const { return credentials_; }
  void WriteCredentials(const std::string& secret = kSecret);
  // Keys below a prefix, as they lie on its disk.
  std::vector<std::string> Keys(const std::string& prefix = "") const;
  std::string Read(const std::string& key) const;
  // From its disk, while it runs.
  void Remove(const std::string& key) const;

  static constexpr char kSecret[] = "right";

 private:
  testing::TempFolder folder_;
  const std::string data_;
  const int port_;
  std::string credentials_;
  std::unique_ptr<Program> program_;
};

}  // namespace reel::tests
