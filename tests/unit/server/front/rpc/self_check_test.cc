// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/self_check.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

// A port where the kernel takes connections and nobody ever answers: a dead listener.
class DeadListener {
 public:
  DeadListener() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    listen(fd_, 16);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~DeadListener() { close(fd_); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  int port_ = 0;
};

SelfCheckOptions Quick(const std::string& address) {
  SelfCheckOptions options;
  options.address = address;
  options.period = absl::Milliseconds(5);
  options.timeout = absl::Milliseconds(50);
  options.misses = 2;
  return options;
}

TEST(SelfCheck, ALiveServerAnswers) {
  RpcServer server;
  SelfCheckOptions options;
  options.address = server.grpc->address();
  options.timeout = absl::Seconds(30);
  EXPECT_TRUE(ProbeOnce(options));
}

TEST(SelfCheck, ADeadListenerDoesNot) {
  const DeadListener dead;
  SelfCheckOptions options = Quick(dead.address());
  EXPECT_FALSE(ProbeOnce(options));
  options.tls = true;
  EXPECT_FALSE(ProbeOnce(options));
}

TEST(SelfCheck, AnythingThatTakesAHandshakeIsAliveForTls) {
  RpcServer server;
  SelfCheckOptions options;
  options.address = server.grpc->address();
  options.timeout = absl::Seconds(30);
  options.tls = true;
  EXPECT_TRUE(ProbeOnce(options));
}

TEST(SelfCheck, TellsAfterTheMissesInARow) {
  const DeadListener dead;
  Mutex mutex;
  CondVar told;
  bool failed = false;
  std::atomic<int> missed = 0;
  SelfCheckOptions options = Quick(dead.address());
  options.missed = [&missed] { ++missed; };
  SelfCheck check(options, [&] {
    MutexLock lock(mutex);
    failed = true;
    told.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!failed) told.Wait(mutex);
  EXPECT_EQ(missed, 2);
}

TEST(SelfCheck, AListenerThatTakesOthersIsBusyAndNotDead) {
  const DeadListener dead;
  SelfCheckOptions options = Quick(dead.address());
  options.timeout = absl::Milliseconds(5);
  std::atomic<int> looked = 0;
  options.taken = [&] {
    ++looked;
    return std::chrono::steady_clock::now();
  };
  const SelfCheck check(options, [] { FAIL(); });
  while (looked < 5) {
  }
}

TEST(SelfCheck, EndsAtOnceWhenItIsNotNeededAnyMore) {
  SelfCheckOptions options;
  options.address = "127.0.0.1:1";
  options.period = absl::Hours(1);
  const SelfCheck check(options, [] { FAIL(); });
}

}  // namespace
}  // namespace reel::front
