// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_tls.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/front/api/tls_watch.h"
#include "server/logging/log.h"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace reel::front {
namespace {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;
using ErrorCode = boost::system::error_code;
using Local = net::local::stream_protocol;

constexpr absl::Duration kHandshake = absl::Seconds(5);
constexpr absl::Duration kGoodbye = absl::Seconds(2);
constexpr size_t kPieceBytes = 16 * 1024;  // the most that a record holds
constexpr int kPlainBufferBytes = 32 * 1024;

auto Await(ErrorCode& code) { return net::redirect_error(net::use_awaitable, code); }

// One connection, between the client and the door.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(net::ip::tcp::socket encrypted, ssl::context& context, Local::socket plain,
        absl::Duration stall)
      : limit_(encrypted.get_executor()),
        outer_(std::move(encrypted), context),
        inner_(std::move(plain)),
        stall_(stall) {}

  void Start() {
    net::co_spawn(
        inner_.get_executor(), [self = shared_from_this()] { return self->Run(); }, net::detached);
  }
  void Close() {
    ErrorCode ignored;
    outer_.lowest_layer().close(ignored);
    inner_.close(ignored);
    limit_.cancel();
  }

 private:
  using Awaitable = net::awaitable<void>;

  Awaitable Run() {
    ErrorCode code;
    Limit(kHandshake);
    co_await outer_.async_handshake(ssl::stream_base::server, Await(code));
    limit_.cancel();
    if (code) {
      Close();
      co_return;
    }
    net::co_spawn(
        inner_.get_executor(), [self = shared_from_this()] { return self->Hear(); }, net::detached);
    co_await Say();
  }

  // From the client; its end is the door's reader's end.
  Awaitable Hear() {
    ErrorCode code;
    while (!code) {
      const size_t got = co_await outer_.async_read_some(net::buffer(heard_), Await(code));
      if (code) break;
      const auto piece = net::buffer(heard_, got);
      co_await net::async_write(inner_, piece, Await(code));
    }
    ErrorCode ignored;
    inner_.shutdown(Local::socket::shutdown_send, ignored);
  }

  // To the client, until the door has closed its end.
  Awaitable Say() {
    ErrorCode code;
    for (;;) {
      const size_t got = co_await inner_.async_read_some(net::buffer(said_), Await(code));
      if (code) break;
      const auto piece = net::buffer(said_, got);
      Limit(stall_);
      co_await net::async_write(outer_, piece, Await(code));
      limit_.cancel();
      if (code) break;
    }
    if (code == net::error::eof) {
      Limit(kGoodbye);
      co_await outer_.async_shutdown(Await(code));
    }
    Close();
  }

  void Limit(absl::Duration time) {
    limit_.expires_after(absl::ToChronoNanoseconds(time));
    limit_.async_wait([weak = weak_from_this()](ErrorCode code) {
      const auto self = weak.lock();
      if (!code && self != nullptr &&
          self->limit_.expiry() <= net::steady_timer::clock_type::now()) {
        self->Close();
      }
    });
  }

  net::steady_timer limit_;
  ssl::stream<net::ip::tcp::socket> outer_;
  Local::socket inner_;
  const absl::Duration stall_;
  std::array<char, kPieceBytes> heard_, said_;
};

std::shared_ptr<ssl::context> ContextOf(const TlsFiles& files, bool mutual) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  ErrorCode code;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       code);
  if (!code) context->use_certificate_chain(net::buffer(files.certificates), code);
  if (!code) context->use_private_key(net::buffer(files.key), ssl::context::pem, code);
  if (!code && mutual) context->add_certificate_authority(net::buffer(files.client_ca), code);
  if (!code && mutual) {
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, code);
  }
  if (!code) return context;
  Log(LogLevel::kWarning, "the certificate cannot be used; the old one stays in use",
      {{"error", code.message()}});
  return nullptr;
}

}  // namespace

class DoorTls::State {
 public:
  State(const TlsOptions& options, absl::Duration stall) : watch_(options, {}), stall_(stall) {}

  std::vector<std::string> Load() {
    std::optional<TlsFiles> fresh;
    std::vector<std::string> problems = watch_.Look(fresh);
    Take(fresh);
    if (problems.empty() && context_ == nullptr) problems.push_back("tls: cannot be used");
    return problems;
  }

  net::generic::stream_protocol::socket Decrypt(net::ip::tcp::socket encrypted) {
    Take(watch_.Renewed());
    const auto executor = encrypted.get_executor();
    Local::socket ours(executor);
    Local::socket doors(executor);
    ErrorCode code;
    net::local::connect_pair(ours, doors, code);
    if (code) return net::generic::stream_protocol::socket(executor);
    for (Local::socket* end : {&ours, &doors}) {
      end->set_option(net::socket_base::send_buffer_size(kPlainBufferBytes), code);
    }
    const auto relay =
        std::make_shared<Relay>(std::move(encrypted), *context_, std::move(ours), stall_);
    if (relays_.size() >= room_) {
      std::erase_if(relays_, [](const auto& weak) { return weak.expired(); });
      room_ = std::max<size_t>(64, 2 * relays_.size());
    }
    relays_.push_back(relay);
    relay->Start();
    return net::generic::stream_protocol::socket(std::move(doors));
  }

  void CloseAll() {
    for (const auto& weak : relays_) {
      if (const auto relay = weak.lock()) relay->Close();
    }
  }

 private:
  void Take(const std::optional<TlsFiles>& fresh) {
    if (!fresh) return;
    auto context = ContextOf(*fresh, !watch_.options().client_ca_file.empty());
    if (context != nullptr) context_ = std::move(context);
  }

  TlsWatch watch_;
  const absl::Duration stall_;
  std::shared_ptr<ssl::context> context_;
  std::vector<std::weak_ptr<Relay>> relays_;
  size_t room_ = 64;
};

DoorTls::DoorTls(std::unique_ptr<State> state) : state_(std::move(state)) {}
DoorTls::~DoorTls() = default;

absl::StatusOr<std::unique_ptr<DoorTls>> DoorTls::Make(const TlsOptions& options,
                                                       absl::Duration stall) {
  auto state = std::make_unique<State>(options, stall);
  const std::vector<std::string> problems = state->Load();
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return std::unique_ptr<DoorTls>(new DoorTls(std::move(state)));
}

net::generic::stream_protocol::socket DoorTls::Decrypt(net::ip::tcp::socket encrypted) {
  return state_->Decrypt(std::move(encrypted));
}

void DoorTls::CloseAll() { state_->CloseAll(); }

}  // namespace reel::front
