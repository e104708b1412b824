// SPDX-License-Identifier: Apache-2.0
// Sockets on this machine.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/numbers.h"

namespace reel::tests {

// Of an address like 127.0.0.1:50051; port 0 where it is none.
inline sockaddr_in LoopbackAddress(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port)) return to;
  to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  return to;
}

// A connected socket, or -1.
inline int ConnectTo(const std::string& address) {
  const sockaddr_in to = LoopbackAddress(address);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace reel::tests
