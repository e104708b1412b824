// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_connection.h"

#include <array>
#include <utility>

#include "server/errors/error.h"
#include "server/front/api/authorizer.h"
#include "server/front/http/door_error.h"
#include "server/front/http/door_intake.h"
#include "server/front/http/door_message.h"
#include "server/logging/log.h"
#include "server/logging/tenant_hash.h"
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace reel::front {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kReadBytes = 4096;
constexpr absl::Duration kHandshake = absl::Seconds(5);
// For a connection that is refused because too many are open. No limit counts its descriptor, so it
// is closed sooner.
constexpr Lingering kWithoutRoom{
    .bytes = 8 << 20, .pause = absl::Seconds(2), .time = absl::Seconds(2)};

}  // namespace

DoorConnection::DoorConnection(HttpStream::Socket socket, net::ssl::context* tls,
                               const DoorServerParts& parts, const DoorLimits& limits,
                               net::thread_pool& pool)
    : stream_(std::move(socket), tls),
      wake_(stream_.get_executor()),
      parts_(parts),
      limits_(limits),
      pool_(pool) {
  parts_.observer.ConnectionOpened();
}

DoorConnection::~DoorConnection() { parts_.observer.ConnectionClosed(); }

void DoorConnection::Start(bool room) {
  net::co_spawn(
      stream_.get_executor(),
      [self = shared_from_this(), room] { return room ? self->Run() : self->RunRefusal(); },
      net::detached);
}

void DoorConnection::Close(bool reset) {
  reset_ = true;
  stream_.Close(reset);
  wake_.cancel();
}

void DoorConnection::Woken() {
  const auto exchange = exchange_.lock();
  if (exchange == nullptr || !exchange->cut()) {
    wake_.cancel();
    return;
  }
  Close(true);  // a write may be stuck, and the end of a body must not look like one
}

std::string_view DoorConnection::buffered() const {
  const auto data = buffer_.data();
  return {static_cast<const char*>(data.data()), data.size()};
}

DoorConnection::Awaitable<void> DoorConnection::Run() {
  const bool begun = co_await BeginTls();
  for (bool first = true; begun; first = false) {
    DoorHead head;
    const bool read = co_await ReadHead(first, head);
    if (!read) break;
    const bool goes_on = co_await ServeOne(std::move(head));
    if (!goes_on) break;
  }
  if (!reset_) co_await stream_.Linger(limits_.linger);
}

// Note: [Nothing unnamed is awaited] GCC 12 destroys some temporaries of a co_await expression
// twice: whatever is handed over there has a name.
DoorConnection::Awaitable<void> DoorConnection::RunRefusal() {
  const bool begun = co_await BeginTls();
  if (!begun) co_return;
  parts_.observer.ConnectionCut(DoorCut::kLimit);
  keep_alive_ = false;
  DoorRequest none;
  none.request_id = DrawUuid();
  DoorReply reply = ErrorReply(MakeError(Reason::kQueueFull, "Too many connections are open",
                                         {.retry_after = absl::Seconds(1)}));
  co_await SendReply(none, std::move(reply));
  co_await stream_.Linger(kWithoutRoom);
}

DoorConnection::Awaitable<bool> DoorConnection::BeginTls() {
  if (!stream_.encrypted()) co_return true;
  stream_.Limit(kHandshake);
  const ErrorCode code = co_await stream_.Handshake();
  if (code && stream_.late()) parts_.observer.ConnectionCut(DoorCut::kHeader);
  if (code) reset_ = true;
  co_return !code;
}

DoorConnection::Awaitable<bool> DoorConnection::ReadHead(bool first, DoorHead& head) {
  absl::Status wrong;
  bool began = first || buffer_.size() > 0;
  stream_.Limit(began ? limits_.head : limits_.idle);
  for (;;) {
    const auto end = FindHeadEnd(buffered());
    if (!end.ok()) {
      wrong = end.status();
      break;
    }
    if (*end > 0) {
      auto parsed = ParseDoorHead(buffered().substr(0, *end));
      if (parsed.ok()) {
        head = *std::move(parsed);
        buffer_.consume(*end);
        co_return true;
      }
      wrong = parsed.status();
      break;
    }
    ErrorCode code;
    const size_t got = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), Await(code));
    if (code && stream_.late()) {
      parts_.observer.ConnectionCut(began ? DoorCut::kHeader : DoorCut::kIdle);
    }
    if (code) {
      // A client that idles under TLS is told that this is the end.
      reset_ = began || !stream_.late() || !stream_.encrypted();
      co_return false;
    }
    buffer_.commit(got);
    if (!std::exchange(began, true)) {
      stream_.Limit(limits_.head);
    }
  }
  keep_alive_ = false;
  began_ = std::chrono::steady_clock::now();
  DoorRequest none;
  none.request_id = DrawUuid();
  DoorReply reply = ErrorReply(wrong);
  co_await SendReply(none, std::move(reply));
  co_return false;
}

DoorConnection::Awaitable<bool> DoorConnection::ServeOne(DoorHead head) {
  began_ = std::chrono::steady_clock::now();
  keep_alive_ = KeepsAlive(head);
  head_out_ = false;
  const bool has_body = BodyOf(head).any();
  DoorRequest request;
  std::optional<DoorReply> refused = parts_.door.Admit(std::move(head), request);
  parts_.open_calls.Enter();
  struct Leaving {
    OpenCalls& open;
    ~Leaving() { open.Leave(); }
  } const leaving{parts_.open_calls};
  // Wakes may come from threads that outlive the connection: Detach ends them.
  auto exchange = std::make_shared<DoorExchange>(
      DoorStreamParts{parts_.pump, parts_.calls, limits_.write_stall},
      [weak = weak_from_this(), executor = stream_.get_executor()] {
        net::post(executor, [weak] {
          if (const auto self = weak.lock()) self->Woken();
        });
      });
  exchange_ = exchange;
  struct Detaching {
    DoorExchange& exchange;
    ~Detaching() { exchange.Detach(); }
  } const detaching{*exchange};
  bool goes_on = false;
  if (refused) {
    // The body is not read, so nobody can tell where the next request begins.
    if (has_body) keep_alive_ = false;
    DoorReply reply = *std::move(refused);
    goes_on = co_await SendReply(request, std::move(reply));
  } else if (request.row->takes == DoorTakes::kFile) {
    goes_on = co_await TakeFile(request);
  } else if (co_await ReadBody(request)) {
    goes_on = co_await Answer(request, exchange);
  }
  EndRequest(request, *exchange);
  co_await StopWatch();
  co_return goes_on&& keep_alive_;
}

DoorConnection::Awaitable<bool> DoorConnection::TakeFile(const DoorRequest& request) {
  FileIntake intake(stream_, buffer_, limits_.body);
  const absl::StatusOr<UploadedFile> file = co_await intake.Run(parts_.door, request);
  if (absl::IsCancelled(file.status())) reset_ = true;
  if (reset_) co_return false;
  if (intake.late()) parts_.observer.ConnectionCut(DoorCut::kBody);
  // What was not read nobody can tell from a request.
  if (!file.ok()) keep_alive_ = false;
  DoorReply reply = Door::FileReply(file);
  co_return co_await SendReply(request, std::move(reply));
}

DoorConnection::Awaitable<bool> DoorConnection::ReadBody(DoorRequest& request) {
  const BodyAhead ahead = BodyOf(request.head);
  const bool expects = ahead.any() && request.head.Count("expect") > 0;
  if (!ahead.any()) co_return true;
  if (expects && ExpectsContinue(request.head)) {
    std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    std::string none;
    const bool told = co_await Write(std::move(go_on), std::move(none), limits_.body);
    if (!told) co_return false;
  }
  stream_.Limit(limits_.body);
  http::request_parser<http::string_body> parser;
  parser.body_limit(request.most_body_bytes);
  const std::string framing = FramingOf(ahead);
  ErrorCode code;
  parser.put(net::buffer(framing), code);
  if (!code) co_await http::async_read(stream_, buffer_, parser, Await(code));
  const auto fields = std::distance(parser.get().begin(), parser.get().end());
  absl::Status wrong;
  if (code == http::error::body_limit) {
    wrong = BodyTooLarge(request);
  } else if (code && stream_.late()) {
    parts_.observer.ConnectionCut(DoorCut::kBody);
    wrong = MakeError(Reason::kRequestNotReceived, "The body did not come in time");
  } else if (code && code.category() == make_error_code(http::error::body_limit).category()) {
    wrong = MakeError(Reason::kMalformedHttp, "The body's framing is malformed");
  } else if (code) {
    reset_ = true;
    co_return false;
  } else if (fields != 1) {  // that of the framing
    wrong = MakeError(Reason::kMalformedHttp, "Trailers are not taken");
  } else if (expects && !ExpectsContinue(request.head)) {
    wrong = MakeError(Reason::kMalformedHttp, "The one expectation that is met is 100-continue");
  }
  if (wrong.ok()) {
    request.body = std::move(parser.get().body());
    co_return true;
  }
  keep_alive_ = false;
  DoorReply reply = ErrorReply(wrong);
  co_await SendReply(request, std::move(reply));
  co_return false;
}

DoorConnection::Awaitable<bool> DoorConnection::Answer(
    DoorRequest& request, const std::shared_ptr<DoorExchange>& exchange) {
  const auto shared = std::make_shared<DoorRequest>(request);
  request.body.clear();
  net::post(pool_, [&door = parts_.door, shared, exchange] { door.Serve(*shared, exchange); });
  stream_.Limit(absl::InfiniteDuration());
  WatchCaller(exchange);
  const auto asked = std::chrono::steady_clock::now();
  bool told_late = false;
  for (;;) {
    if (reset_) co_return false;
    DoorWork work = exchange->Take();
    switch (work.kind) {
      case DoorWork::Kind::kNone: {
        const bool waits = !head_out_ && !told_late;
        wake_.expires_at(asked + absl::ToChronoNanoseconds(
                                     waits ? exchange->patience(limits_.answer) : kForever));
        ErrorCode code;
        co_await wake_.async_wait(Await(code));
        if (!code && waits) {
          told_late = true;
          exchange->Late();
        }
        break;
      }
      case DoorWork::Kind::kMake:
        net::post(pool_, [exchange, make = std::move(work.make)] { exchange->Made(make()); });
        break;
      case DoorWork::Kind::kReply:
        co_return co_await SendReply(request, std::move(work.reply));
      case DoorWork::Kind::kPiece: {
        if (work.first) buffer_.shrink_to_fit();  // a stream may live for hours
        const bool at_hand = work.next_at_hand;
        const bool sent = co_await SendPiece(request, std::move(work));
        // What reads files is made on the pool: its threads are not woken for each of many events.
        const auto next = [exchange, sent] { exchange->Written(sent); };
        at_hand ? next() : net::post(pool_, next);
        break;
      }
      case DoorWork::Kind::kEnd:
        if (chunked_ && request.head.method != "HEAD") {
          std::string last = WriteChunk({});
          std::string none;
          co_return co_await Write(std::move(last), std::move(none), limits_.write_stall);
        }
        co_return true;
    }
  }
}

// The exchange's own watch ends what stalls: it knows of bound jobs.
DoorConnection::Awaitable<bool> DoorConnection::SendPiece(const DoorRequest& request,
                                                          DoorWork work) {
  std::string head;
  if (work.first) {
    chunked_ = work.length < 0;
    head_out_ = true;
    status_ = work.reply.status;
    parts_.door.Complete(request, work.reply);
    work.reply.close = !keep_alive_;
    head =
        WriteHead(work.reply, chunked_ ? BodyFraming::kChunked : BodyFraming::kLength, work.length);
  }
  if (chunked_ && !work.bytes.empty()) work.bytes = WriteChunk(work.bytes);
  return Write(std::move(head), std::move(work.bytes), absl::InfiniteDuration());
}

DoorConnection::Awaitable<bool> DoorConnection::SendReply(const DoorRequest& request,
                                                          DoorReply reply) {
  status_ = reply.status;
  parts_.door.Complete(request, reply);
  reply.close = !keep_alive_;
  const bool none = reply.status == 204;
  std::string head = WriteHead(reply, none ? BodyFraming::kNone : BodyFraming::kLength,
                               static_cast<int64_t>(reply.body.size()));
  if (request.head.method == "HEAD") reply.body.clear();
  return Write(std::move(head), std::move(reply.body), limits_.write_stall);
}

DoorConnection::Awaitable<bool> DoorConnection::Write(std::string head, std::string body,
                                                      absl::Duration limit) {
  stream_.Limit(limit);
  const std::array<net::const_buffer, 2> buffers = {net::buffer(head), net::buffer(body)};
  ErrorCode code;
  co_await net::async_write(stream_, buffers, Await(code));
  if (code && stream_.late()) parts_.observer.ConnectionCut(DoorCut::kStall);
  if (code) reset_ = true;
  co_return !code;
}

void DoorConnection::WatchCaller(const std::shared_ptr<DoorExchange>& exchange) {
  watching_ = true;
  stream_.async_read_some(net::buffer(&early_, 1),
                          [self = shared_from_this(), weak = std::weak_ptr(exchange)](
                              ErrorCode code, size_t) { self->Heard(code, weak.lock()); });
}

void DoorConnection::Heard(ErrorCode code, const std::shared_ptr<DoorExchange>& exchange) {
  watching_ = false;
  wake_.cancel();
  if (!code) {
    // One that sends its next request already is watched no more: a write tells.
    net::buffer_copy(buffer_.prepare(1), net::buffer(&early_, 1));
    buffer_.commit(1);
  } else if (code != net::error::operation_aborted && exchange != nullptr) {
    net::post(pool_, [exchange] { exchange->CallerGone(); });
    Close();
  }
}

DoorConnection::Awaitable<void> DoorConnection::StopWatch() {
  if (watching_) stream_.Cancel();
  while (watching_) {
    ErrorCode ignored;
    wake_.expires_at(std::chrono::steady_clock::time_point::max());
    co_await wake_.async_wait(Await(ignored));
  }
}

void DoorConnection::EndRequest(const DoorRequest& request, const DoorExchange& exchange) {
  const auto took = absl::FromChrono(std::chrono::steady_clock::now() - began_);
  parts_.observer.RequestEnded(request.route(), reset_ ? 0 : status_, took);
  const bool quiet = status_ < 300 && request.head.method == "GET" && !exchange.streams();
  const LogLevel usual = quiet ? LogLevel::kDebug : LogLevel::kInfo;
  Log(status_ >= 500 ? LogLevel::kError : usual, "http",
      {{"route", request.route()},
       {"method", request.head.method},
       {"status", status_},
       {"cut", reset_},
       {"duration", took},
       {"request_id", request.request_id},
       {"trace_id", request.trace_id},
       {"video", exchange.video()},
       {"tenant", request.principal.tenant.empty() ? "" : TenantHash(request.principal.tenant)}});
}

}  // namespace reel::front
