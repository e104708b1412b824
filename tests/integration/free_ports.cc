// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/free_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::tests {

namespace {

// Below those that systems give to connections, one of which might take a port before the program
// that it is for has bound it.
constexpr int kFirstPort = 10'000, kLastPort = 32'000;

bool IsFree(int port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(static_cast<uint16_t>(port));
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int failed = ::bind(socket, reinterpret_cast<sockaddr*>(&place), sizeof place);
  ::close(socket);
  return failed == 0;
}

}  // namespace

// By lot: tests beside this one draw, too.
std::vector<int> FreePorts(size_t count) {
  std::random_device random;
  std::uniform_int_distribution<int> any(kFirstPort, kLastPort);
  std::vector<int> ports;
  while (ports.size() < count) {
    const int port = any(random);
    const bool is_known = std::find(ports.begin(), ports.end(), port) != ports.end();
    if (!is_known && IsFree(port)) ports.push_back(port);
  }
  return ports;
}

std::string FindTool(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* const source = std::getenv("REEL_SOURCE")) {
    folders.push_back(absl::StrCat(source, "/.deps/bin"));
  }
  if (const char* const path = std::getenv("PATH")) {
    for (const absl::string_view folder : absl::StrSplit(path, ':')) {
      folders.emplace_back(folder);
    }
  }
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/", name);
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

}  // namespace reel::tests
