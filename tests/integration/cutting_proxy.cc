// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/cutting_proxy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/loopback.h"

namespace reel::tests {
namespace {

void NoDelay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// With a reset, which drops what the other side has not read yet.
void Reset(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(fd);
}

bool WriteAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

CuttingProxy::CuttingProxy() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in any = LoopbackAddress("127.0.0.1:0");
  socklen_t size = sizeof any;
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  if (::bind(listener_, address, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, address, &size) != 0 || ::pipe2(stop_, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "the proxy cannot listen";
    return;
  }
  address_ = absl::StrCat("127.0.0.1:", ntohs(any.sin_port));
  thread_ = std::thread([this] { Run(); });
}

CuttingProxy::~CuttingProxy() {
  ::close(stop_[1]);
  if (thread_.joinable()) thread_.join();
  CutAll();
  ::close(stop_[0]);
  ::close(listener_);
}

void CuttingProxy::SetTarget(const std::string& address) {
  MutexLock lock(mutex_);
  target_ = address;
}

void CuttingProxy::SetCuts(std::vector<int64_t> after) {
  MutexLock lock(mutex_);
  cuts_ = std::move(after);
  std::ranges::sort(cuts_, std::greater<>());
}

void CuttingProxy::SetBytesPerSecond(double rate) {
  MutexLock lock(mutex_);
  bytes_per_second_ = rate;
}

int CuttingProxy::cuts() const {
  MutexLock lock(mutex_);
  return cut_;
}

int64_t CuttingProxy::forwarded() const {
  MutexLock lock(mutex_);
  return forwarded_;
}

void CuttingProxy::Accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  std::string target;
  {
    MutexLock lock(mutex_);
    target = target_;
  }
  const int server = ConnectTo(target);
  if (server < 0) return Reset(client);
  NoDelay(client);
  NoDelay(server);
  pairs_.push_back({client, server});
}

bool CuttingProxy::Forward(int from, int to, bool counted) {
  std::array<char, 16 * 1024> bytes;
  size_t want = bytes.size();
  if (counted) {
    MutexLock lock(mutex_);
    if (!cuts_.empty()) want = std::min(want, static_cast<size_t>(cuts_.back() - forwarded_));
  }
  const ssize_t got = ::recv(from, bytes.data(), want, 0);
  if (got <= 0 || !WriteAll(to, bytes.data(), static_cast<size_t>(got))) return false;
  if (!counted) return true;
  double rate = 0;
  {
    MutexLock lock(mutex_);
    rate = bytes_per_second_;
  }
  if (rate > 0) absl::SleepFor(absl::Seconds(static_cast<double>(got) / rate));
  MutexLock lock(mutex_);
  forwarded_ += got;
  if (cuts_.empty() || forwarded_ < cuts_.back()) return true;
  // Two that are the same are one.
  while (!cuts_.empty() && forwarded_ >= cuts_.back()) cuts_.pop_back();
  ++cut_;
  return false;
}

void CuttingProxy::CutAll() {
  for (const Pair& pair : pairs_) {
    Reset(pair.client);
    Reset(pair.server);
  }
  pairs_.clear();
}

void CuttingProxy::Run() {
  for (;;) {
    std::vector<pollfd> polls = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      polls.push_back({pair.client, POLLIN, 0});
      polls.push_back({pair.server, POLLIN, 0});
    }
    if (::poll(polls.data(), polls.size(), -1) < 0) continue;
    if (polls[0].revents != 0) return;
    const int before = cuts();
    std::vector<Pair> open;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const Pair pair = pairs_[i];
      const bool lives =
          (polls[2 + 2 * i].revents == 0 || Forward(pair.client, pair.server, false)) &&
          (polls[3 + 2 * i].revents == 0 || Forward(pair.server, pair.client, true));
      if (lives) {
        open.push_back(pair);
      } else {
        Reset(pair.client);
        Reset(pair.server);
      }
    }
    pairs_ = std::move(open);
    if (cuts() != before) CutAll();
    if (polls[1].revents != 0) Accept();
  }
}

}  // namespace reel::tests
