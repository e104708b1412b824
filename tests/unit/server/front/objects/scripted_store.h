// SPDX-License-Identifier: Apache-2.0
// A server that answers HTTP as badly as a test says: one answer a connection, as bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

struct ScriptedAnswer {
  std::string bytes;   // of head and body
  bool holds = false;  // the connection then stays open and silent
  bool early = false;  // by the request's head; the connection ends with its body unread
};

inline ScriptedAnswer Answering(int status, const std::string& body,
                                const std::string& fields = "") {
  return {absl::StrCat("HTTP/1.1 ", status, " Said\r\nContent-Length: ", body.size(), "\r\n",
                       fields, "Connection: close\r\n\r\n", body)};
}

// Answers in order, the last one again and again.
class ScriptedStore {
 public:
  explicit ScriptedStore(std::vector<ScriptedAnswer> answers) : answers_(std::move(answers)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
    endpoint_ = absl::StrCat("http://127.0.0.1:", ntohs(place.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~ScriptedStore() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }

  const std::string& endpoint() const { return endpoint_; }
  // Heads of requests, with what came of their bodies.
  std::vector<std::string> Requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }

 private:
  static constexpr char kGoOn[] = "HTTP/1.1 100 Continue\r\n\r\n";

  // False: it is to stop.
  bool Readable(int socket) const {
    pollfd both[] = {{stop_.get(), POLLIN, 0}, {socket, POLLIN, 0}};
    return ::poll(both, 2, -1) > 0 && both[0].revents == 0;
  }
  static bool IsWhole(const std::string& request) {
    const size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t at = request.find("Content-Length: ");
    size_t length = 0;
    if (at == std::string::npos || at > end) return true;
    const std::string field = request.substr(at + 16, request.find('\r', at) - at - 16);
    return absl::SimpleAtoi(field, &length) && request.size() >= end + 4 + length;
  }
  void Run() {
    for (size_t next = 0; Readable(listener_.get()); ++next) {
      FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const ScriptedAnswer& answer = answers_[std::min(next, answers_.size() - 1)];
      std::string request(64 << 10, '\0');
      size_t filled = 0;
      bool told = false;
      while (!IsWhole(request.substr(0, filled)) && Readable(socket.get())) {
        const ssize_t got =
            ::recv(socket.get(), request.data() + filled, request.size() - filled, 0);
        if (got <= 0) break;
        filled += static_cast<size_t>(got);
        if (answer.early && request.find("\r\n\r\n") != std::string::npos) break;
        const bool waits = request.find("Expect: 100-continue\r\n") != std::string::npos;
        if (waits && !std::exchange(told, true)) {
          ::send(socket.get(), kGoOn, sizeof kGoOn - 1, MSG_NOSIGNAL);
        }
      }
      request.resize(filled);
      {
        const MutexLock lock(mutex_);
        requests_.push_back(request);
      }
      ::send(socket.get(), answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL);
      if (answer.holds) Readable(-1);
    }
  }

  const std::vector<ScriptedAnswer> answers_;
  FileDescriptor listener_;
  const FileDescriptor stop_{eventfd(0, EFD_CLOEXEC)};
  std::string endpoint_;
  Mutex mutex_;
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace reel::front
