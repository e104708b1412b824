// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/http/door_message.h"
#include "server/front/http/http_stream.h"
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace reel::front {
namespace {

namespace net = boost::asio;
using net::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr size_t kMaxConnections = 64;
constexpr absl::Duration kExchangeTime = absl::Seconds(5);
// Of what follows a request, so that the answer is not lost in a reset.
constexpr size_t kMostDropped = 1 << 20;
// Between two looks at the listener when there are no descriptors for new connections.
constexpr auto kNoDescriptorsWait = std::chrono::milliseconds(100);

DoorReply PageOf(int status, std::string text) {
  DoorReply reply;
  reply.status = status;
  reply.Add("Content-Type", "text/plain; charset=utf-8");
  reply.body = std::move(text);
  reply.close = true;
  return reply;
}

DoorReply Readiness(const HttpPages& pages) {
  if (pages.ready()) return PageOf(200, "ready\n");
  return PageOf(503, "not ready\n" + (pages.why_not != nullptr ? pages.why_not() : ""));
}

// None: the page is /metrics.
std::optional<DoorReply> ReplyTo(const DoorHead& head, const HttpPages& pages) {
  if (BodyOf(head).any()) return PageOf(413, "no request here has a body\n");
  const bool known = head.path == "/metrics" || head.path == "/healthz" || head.path == "/readyz";
  if (!known) return PageOf(404, "there are /metrics, /healthz and /readyz\n");
  if (head.method != "GET" && head.method != "HEAD") {
    DoorReply reply = PageOf(405, "GET and HEAD only\n");
    reply.Add("Allow", "GET, HEAD");
    return reply;
  }
  if (head.path == "/readyz") return Readiness(pages);
  if (head.path == "/metrics") return std::nullopt;
  const bool healthy = pages.healthy();
  return PageOf(healthy ? 200 : 503, healthy ? "alive\n" : "failing\n");
}

DoorReply RefusalOf(const absl::Status& wrong) {
  const bool large = ReasonOf(wrong) == Reason::kMetadataTooLarge;
  return PageOf(large ? 431 : 400, std::string(wrong.message()) + "\n");
}

// Requests that are there together have one reading, so that a crowd of them is not in the way of a
// probe. All came before it.
class SharedReading {
 public:
  SharedReading(net::io_context& context, std::function<std::string()> read)
      : context_(context), read_(std::move(read)) {}

  net::awaitable<std::string> Get() {
    // Behind all requests that have come already.
    co_await net::post(context_, net::use_awaitable);
    if (!text_.has_value()) {
      text_ = read_();
      net::post(context_, [this] { text_.reset(); });
    }
    co_return *text_;
  }

 private:
  net::io_context& context_;
  const std::function<std::string()> read_;
  std::optional<std::string> text_;
};

// One connection: a request in, an answer out, the end.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // `pages` and `metrics` outlive it.
  Exchange(tcp::socket socket, const HttpPages& pages, SharedReading& metrics)
      : stream_(std::move(socket), nullptr), pages_(pages), metrics_(metrics) {}

  void Start() {
    stream_.Limit(kExchangeTime);
    net::co_spawn(
        stream_.get_executor(), [self = shared_from_this()] { return self->Run(); }, net::detached);
  }
  void Close() { stream_.Close(); }
  // Only waits for its client to close.
  bool answered() const { return answered_; }

 private:
  net::awaitable<void> Run() {
    DoorHead head;
    absl::Status wrong;
    const bool read = co_await Read(head, wrong);
    if (!read) co_return;
    std::optional<DoorReply> reply = wrong.ok() ? ReplyTo(head, pages_) : RefusalOf(wrong);
    if (!reply) {
      std::string text = co_await metrics_.Get();
      reply = PageOf(200, std::move(text));
      reply->fields.front().value = "text/plain; version=0.0.4; charset=utf-8";
    }
    const std::string top =
        WriteHead(*reply, BodyFraming::kLength, static_cast<int64_t>(reply->body.size()));
    if (head.method == "HEAD") reply->body.clear();
    const std::array<net::const_buffer, 2> buffers = {net::buffer(top), net::buffer(reply->body)};
    ErrorCode code;
    co_await net::async_write(stream_, buffers, Await(code));
    reply.reset();
    answered_ = true;
    if (code) co_return;
    const auto left = kExchangeTime - absl::FromChrono(std::chrono::steady_clock::now() - began_);
    const Lingering bounds{.bytes = kMostDropped, .pause = left, .time = left};
    co_await stream_.Linger(bounds);
  }

  // False: it has ended before its head.
  net::awaitable<bool> Read(DoorHead& head, absl::Status& wrong) {
    std::string received;
    std::array<char, 4096> piece;
    for (;;) {
      ErrorCode code;
      const size_t got = co_await stream_.async_read_some(net::buffer(piece), Await(code));
      if (code) co_return false;
      received.append(piece.data(), got);
      const auto end = FindHeadEnd(received);
      if (end.ok() && *end == 0) continue;
      auto parsed = end.ok() ? ParseDoorHead(std::string_view(received).substr(0, *end))
                             : absl::StatusOr<DoorHead>(end.status());
      wrong = parsed.status();
      if (parsed.ok()) head = *std::move(parsed);
      co_return true;
    }
  }

  HttpStream stream_;
  const HttpPages& pages_;
  SharedReading& metrics_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool answered_ = false;
};

}  // namespace

// The thread and its sockets.
class HttpServer::Loop {
 public:
  Loop(tcp::acceptor::native_handle_type listener, bool ipv6, HttpPages pages)
      : pages_(std::move(pages)),
        metrics_(context_, pages_.metrics),
        acceptor_(context_, ipv6 ? tcp::v6() : tcp::v4(), listener),
        again_(context_) {
    acceptor_.non_blocking(true);
    Wait();
    thread_ = std::thread([this] { context_.run(); });
  }
  // All that waits is closed, so that the thread runs out of work.
  ~Loop() {
    net::post(context_, [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      again_.cancel();
      for (const auto& weak : exchanges_) {
        if (const auto exchange = weak.lock()) exchange->Close();
      }
    });
    thread_.join();
  }

 private:
  void Wait() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](ErrorCode code) {
      if (acceptor_.is_open()) Accept(code);
    });
  }

  // All that have come: their requests may share a reading.
  void Accept(ErrorCode code) {
    while (!code) {
      tcp::socket socket(context_);
      acceptor_.accept(socket, code);
      if (!code) Welcome(std::move(socket));
    }
    if (code == net::error::would_block) return Wait();
    // Without descriptors the listener stays ready: asking at once again would burn a core.
    again_.expires_after(kNoDescriptorsWait);
    again_.async_wait([this](ErrorCode stopped) {
      if (!stopped) Wait();
    });
  }

  void Welcome(tcp::socket socket) {
    std::erase_if(exchanges_, [](const auto& weak) { return weak.expired(); });
    if (exchanges_.size() >= kMaxConnections) MakeRoom();
    const auto exchange = std::make_shared<Exchange>(std::move(socket), pages_, metrics_);
    exchanges_.push_back(exchange);
    exchange->Start();
  }

  // A probe asks as soon as it is connected, so that the oldest is the least likely to be one.
  void MakeRoom() {
    auto leaving = std::find_if(exchanges_.begin(), exchanges_.end(), [](const auto& weak) {
      const auto exchange = weak.lock();
      return exchange != nullptr && exchange->answered();
    });
    if (leaving == exchanges_.end()) leaving = exchanges_.begin();
    if (const auto exchange = leaving->lock()) exchange->Close();
    exchanges_.erase(leaving);
  }

  const HttpPages pages_;
  net::io_context context_{1};
  SharedReading metrics_;
  tcp::acceptor acceptor_;
  net::steady_timer again_;
  std::vector<std::weak_ptr<Exchange>> exchanges_;  // the oldest first
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Loop> loop, std::string address)
    : loop_(std::move(loop)), address_(std::move(address)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address,
                                                              HttpPages pages) {
  Address bound = address;
  REEL_ASSIGN_OR_RETURN(FileDescriptor listener, ListenOn(bound));
  const bool ipv6 = bound.ToString().front() == '[';
  auto loop = std::make_unique<Loop>(listener.release(), ipv6, std::move(pages));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop), bound.ToString()));
}

}  // namespace reel::front
