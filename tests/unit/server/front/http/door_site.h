// SPDX-License-Identifier: Apache-2.0
// A door whose jobs are a script, and plain sockets to it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "server/front/http/door_server.h"
#include "server/front/workers/file_descriptor.h"
#include "tests/fakes/fake_job_service.h"
#include "tests/fakes/recording_call_observer.h"

namespace reel::front {

// Of what only another thread can tell, and tells nobody. False after half a minute.
template <typename Condition>
bool EventuallyHolds(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class CountingDoorObserver final : public DoorObserver {
 public:
  void RequestEnded(std::string_view, int, absl::Duration) override { ++requests; }
  void ConnectionOpened() override { ++open; }
  void ConnectionClosed() override { --open; }
  void ConnectionCut(DoorCut why) override { ++cuts[static_cast<size_t>(why)]; }
  std::atomic<int> requests = 0, open = 0;
  std::array<std::atomic<int>, 5> cuts{};
};

struct DoorSite {
  explicit DoorSite(DoorLimits limits = {}, std::unique_ptr<Authorizer> given = nullptr,
                    bool page = true, int streams_per_tenant = 0)
      : authorizer(given ? std::move(given) : std::make_unique<Authorizer>()),
        pump(2, absl::Milliseconds(20)),
        door({*authorizer, calls, jobs},
             {{true, {}, {"https://studio.test"}}, page, {{"sora-2", "lab"}}, streams_per_tenant},
             {"1.2.3", "abc", std::chrono::steady_clock::now(), RequestRules(), {{"a", 3}}}) {
    auto started =
        DoorServer::Start({"127.0.0.1", 0}, {door, pump, open_calls, calls, observer}, limits);
    EXPECT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }
  ~DoorSite() {
    pump.CloseAll();
    server.reset();
    EXPECT_EQ(open_calls.count(), 0);
    EXPECT_EQ(calls.open_streams, 0);
    EXPECT_EQ(observer.open, 0);
  }

  Address address() const { return *ParseAddress(server->address_text()); }
  httplib::Client Client() const {
    httplib::Client client(address().host, address().port);
    client.set_keep_alive(true);
    return client;
  }
  FileDescriptor Connect() const {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(address().port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const timeval patience{30, 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return socket;
  }

  FakeJobService jobs;
  RecordingCallObserver calls;
  CountingDoorObserver observer;
  OpenCalls open_calls;
  std::unique_ptr<Authorizer> authorizer;
  StreamPump pump;
  Door door;
  std::unique_ptr<DoorServer> server;
};

inline void SendText(const FileDescriptor& socket, const std::string& text) {
  EXPECT_EQ(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// Until the end of the connection, or until `until` has come. True at the end: it was a clean one.
inline std::string ReceiveText(const FileDescriptor& socket, const std::string& until = "",
                               bool* reset = nullptr) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = recv(socket.get(), piece, sizeof piece, 0);
    if (reset != nullptr) *reset = got < 0 && errno == ECONNRESET;
    if (got <= 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (!until.empty() && absl::StrContains(text, until)) return text;
  }
}

inline std::string GetText(const std::string& path, const std::string& fields = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

}  // namespace reel::front
