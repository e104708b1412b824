// SPDX-License-Identifier: Apache-2.0
// Connections that say nothing, until they are destroyed.
#pragma once

#include <string>
#include <vector>

#include "tests/integration/loopback.h"

namespace reel::tests {

class IdleSockets {
 public:
  // To an address like 127.0.0.1:50051.
  IdleSockets(const std::string& address, size_t count) {
    while (fds_.size() < count) {
      const int fd = ConnectTo(address);
      if (fd < 0) return;
      fds_.push_back(fd);
    }
  }
  ~IdleSockets() {
    for (const int fd : fds_) ::close(fd);
  }
  IdleSockets(const IdleSockets&) = delete;
  IdleSockets& operator=(const IdleSockets&) = delete;

  size_t size() const { return fds_.size(); }

 private:
  std::vector<int> fds_;
};

}  // namespace reel::tests
