// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/front/http/bounded_tasks.h"

namespace reel::front {
namespace {

constexpr int kThreads = 2;
constexpr int kTimeoutSeconds = 5;
constexpr size_t kMaxWaiting = 64;
constexpr char kText[] = "text/plain; charset=utf-8";

// The library's pool takes connections without end; this one makes the listener wait instead.
class TaskQueue final : public httplib::TaskQueue {
 public:
  // Nothing, and from cpp-httplib 0.12 on whether there was room.
  using Enqueued = decltype(std::declval<httplib::TaskQueue>().enqueue({}));
  Enqueued enqueue(std::function<void()> task) override {
    tasks_.Add(std::move(task));
    return Enqueued(true);
  }
  void shutdown() override { tasks_.Stop(); }

 private:
  BoundedTasks tasks_{kThreads, kMaxWaiting};
};

void Configure(httplib::Server& server) {
  server.new_task_queue = [] { return new TaskQueue; };
  server.set_keep_alive_max_count(100);
  server.set_keep_alive_timeout(1);  // an idle connection holds one of two threads
  server.set_read_timeout(kTimeoutSeconds);
  server.set_write_timeout(kTimeoutSeconds);
  server.set_payload_max_length(1024);
  server.set_tcp_nodelay(true);
  // The library would share the port with a second server.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

void AddPages(httplib::Server& server, HttpPages pages) {
  server.Get("/metrics", [page = std::move(pages.metrics)](const httplib::Request&,
                                                           httplib::Response& response) {
    response.set_content(page(), "text/plain; version=0.0.4; charset=utf-8");
  });
  const auto probe = [](std::function<bool()> good, const char* yes, const char* no) {
    return [good = std::move(good), yes, no](const httplib::Request&, httplib::Response& response) {
      const bool ok = good();
      response.status = ok ? 200 : 503;
      response.set_content(ok ? yes : no, kText);
    };
  };
  server.Get("/healthz", probe(std::move(pages.healthy), "alive\n", "failing\n"));
  server.Get("/readyz", probe(std::move(pages.ready), "ready\n", "not ready\n"));
}

}  // namespace

struct HttpServer::Impl {
  httplib::Server server;
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::string address)
    : impl_(std::move(impl)), address_(std::move(address)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address,
                                                              HttpPages pages) {
  auto impl = std::make_unique<Impl>();
  Configure(impl->server);
  AddPages(impl->server, std::move(pages));
  Address bound = address;
  if (address.port == 0) {
    bound.port = impl->server.bind_to_any_port(address.host);
  } else if (!impl->server.bind_to_port(address.host, address.port)) {
    bound.port = -1;
  }
  if (bound.port <= 0) {
    return absl::UnavailableError(absl::StrCat(
        "The metrics server cannot listen: the address may be in use or not of this machine: ",
        address.ToString()));
  }
  impl->thread = std::thread([server = &impl->server] { server->listen_after_bind(); });
  // A stop before the loop runs would be lost.
  while (!impl->server.is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl), bound.ToString()));
}

HttpServer::~HttpServer() {
  impl_->server.stop();
  impl_->thread.join();
}

}  // namespace reel::front
