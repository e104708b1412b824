// SPDX-License-Identifier: Apache-2.0
// Replaces reel-worker. A worker named "flood" sends 40 MiB for every job at once; under any other
// name it executes the real reel-worker beside it. For tests of readers that need more data than
// fits between two windows.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "server/front/workers/launcher.h"
#include "tests/fakes/fake_worker.h"

namespace {

std::map<std::string, std::string> Flags(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals != std::string::npos)
      flags[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
  }
  return flags;
}

std::string ReadToken(int fd) {
  std::string token;
  char byte = 0;
  while (::read(fd, &byte, 1) == 1) token += byte;
  return token;
}

}  // namespace

int main(int argc, char** argv) {
  auto flags = Flags(argc, argv);
  if (flags["name"] != "flood") {
    const std::string real =
        std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
        "bin/reel-worker";
    argv[0] = const_cast<char*>(real.c_str());
    ::execv(real.c_str(), argv);
    return 1;
  }
  reel::front::FakeScript script;
  script.heartbeat = absl::Seconds(1);
  script.media_bytes = 40 << 20;
  script.chunk_bytes = 1 << 20;
  const reel::front::LaunchRequest request{flags["name"], flags["device"], flags["socket"],
                                           ReadToken(std::stoi(flags["token_fd"]))};
  reel::front::FakeWorker worker(request, script);
  worker.WaitForEnd().IgnoreError();
  return 0;
}
