// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/free_ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::tests {

// What is open at the same time is told apart.
std::vector<int> FreePorts(size_t count) {
  std::vector<int> sockets, ports;
  for (size_t i = 0; i < count; ++i) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(sockets.back(), reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(::getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&place), &size), 0);
    ports.push_back(ntohs(place.sin_port));
  }
  for (const int socket : sockets) ::close(socket);
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
