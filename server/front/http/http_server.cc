// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/front/http/http_exchange.h"
#include "server/front/http/http_listener.h"

namespace reel::front {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxConnections = 64;
constexpr auto kExchangeTime = std::chrono::seconds(5);
// Between two looks at the listener when there are no descriptors for new connections.
constexpr auto kNoDescriptorsWait = std::chrono::milliseconds(100);

HttpAnswer Probe(bool good, const char* yes, const std::string& no) {
  return {good ? 200 : 503, good ? yes : no};
}

HttpAnswer Readiness(const HttpPages& pages) {
  const bool ready = pages.ready();
  const bool told = !ready && pages.why_not != nullptr;
  return Probe(ready, "ready\n", "not ready\n" + (told ? pages.why_not() : ""));
}

HttpAnswer AnswerOf(const HttpPages& pages, const HttpRequest& request) {
  if (request.has_body) return {413, "no request here has a body\n"};
  const bool known =
      request.path == "/metrics" || request.path == "/healthz" || request.path == "/readyz";
  if (!known) return {404, "there are /metrics, /healthz and /readyz\n"};
  if (request.method != "GET" && request.method != "HEAD") return {405, "GET and HEAD only\n"};
  if (request.path == "/healthz") return Probe(pages.healthy(), "alive\n", "failing\n");
  if (request.path == "/readyz") return Readiness(pages);
  return {200, pages.metrics(), "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace

// The thread and its sockets.
class HttpServer::Loop {
 public:
  Loop(FileDescriptor listener, HttpPages pages)
      : listener_(std::move(listener)),
        answer_([pages = WithSharedMetrics(std::move(pages))](const HttpRequest& request) {
          return AnswerOf(pages, request);
        }),
        thread_([this] { Run(); }) {}
  ~Loop() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }

 private:
  void Run() {
    for (;;) {
      std::vector<pollfd> sockets = Sockets();
      poll(sockets.data(), sockets.size(), WaitMs());
      if (sockets[0].revents != 0) return;
      metrics_.reset();
      size_t at = 2;
      for (auto exchange = exchanges_.begin(); exchange != exchanges_.end(); ++at) {
        const bool ready = sockets[at].revents != 0;
        const bool over = Clock::now() >= exchange->end();
        const bool goes_on = !over && (!ready || exchange->Advance(answer_));
        exchange = goes_on ? std::next(exchange) : exchanges_.erase(exchange);
      }
      if (sockets[1].revents != 0) Accept();
    }
  }

  // Requests that are there together have one reading, so that a crowd of them is not in the way of
  // a probe. All came before it.
  HttpPages WithSharedMetrics(HttpPages pages) {
    pages.metrics = [this, read = std::move(pages.metrics)] {
      if (!metrics_.has_value()) metrics_ = read();
      return *metrics_;
    };
    return pages;
  }

  std::vector<pollfd> Sockets() const {
    std::vector<pollfd> sockets = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (Clock::now() < accept_again_) sockets[1].fd = -1;
    for (const HttpExchange& exchange : exchanges_) {
      const short events = exchange.sending() ? POLLOUT : POLLIN;
      sockets.push_back({exchange.socket(), events, 0});
    }
    return sockets;
  }

  // To the first end of an exchange; all have the same time, so that the oldest is the first.
  int WaitMs() const {
    const auto now = Clock::now();
    auto next = now + std::chrono::hours(1);
    if (!exchanges_.empty()) next = exchanges_.front().end();
    if (now < accept_again_) next = std::min(next, accept_again_);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    return std::max(0, static_cast<int>(wait.count()));
  }

  void Accept() {
    for (;;) {
      FileDescriptor socket(
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        // Without descriptors the listener stays ready: asking at once again would burn a core.
        const bool out_of_them = errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
        if (out_of_them) accept_again_ = Clock::now() + kNoDescriptorsWait;
        return;
      }
      if (exchanges_.size() >= kMaxConnections) MakeRoom();
      exchanges_.emplace_back(std::move(socket), Clock::now() + kExchangeTime);
    }
  }

  // A probe asks as soon as it is connected, so that the oldest is the least likely to be one.
  void MakeRoom() {
    const auto answered = std::find_if(exchanges_.begin(), exchanges_.end(),
                                       [](const HttpExchange& e) { return e.answered(); });
    exchanges_.erase(answered != exchanges_.end() ? answered : exchanges_.begin());
  }

  const FileDescriptor listener_;
  const FileDescriptor stop_{eventfd(0, EFD_CLOEXEC)};
  const HttpExchange::Answer answer_;
  std::list<HttpExchange> exchanges_;  // the oldest first
  Clock::time_point accept_again_;
  std::optional<std::string> metrics_;  // of one look at the sockets
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Loop> loop, std::string address)
    : loop_(std::move(loop)), address_(std::move(address)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address,
                                                              HttpPages pages) {
  Address bound = address;
  REEL_ASSIGN_OR_RETURN(FileDescriptor listener, ListenOn(bound));
  auto loop = std::make_unique<Loop>(std::move(listener), std::move(pages));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop), bound.ToString()));
}

}  // namespace reel::front
