// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_server.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "server/front/http/door_connection.h"
#include "server/front/http/http_stream.h"
#include "server/front/workers/file_descriptor.h"
#include "server/logging/log.h"
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

namespace reel::front {
namespace {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;

std::unique_ptr<ssl::context> ContextOf(const TlsFiles& files, bool mutual) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code code;
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

absl::StatusOr<std::unique_ptr<DoorTls>> DoorTls::Make(const TlsOptions& options) {
  std::unique_ptr<DoorTls> tls(new DoorTls(options));
  std::optional<TlsFiles> fresh;
  std::vector<std::string> problems = tls->watch_.Look(fresh);
  tls->Take(fresh);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  if (tls->context_ == nullptr) return absl::InvalidArgumentError("tls: cannot be used");
  return tls;
}

ssl::context& DoorTls::Current() {
  Take(watch_.Renewed());
  return *context_;
}

// Connections of the context before hold OpenSSL's part of it.
void DoorTls::Take(const std::optional<TlsFiles>& fresh) {
  if (!fresh) return;
  auto context = ContextOf(*fresh, !watch_.options().client_ca_file.empty());
  if (context != nullptr) context_ = std::move(context);
}

namespace {

namespace net = boost::asio;
using net::ip::tcp;

constexpr int kPoolThreads = 2;
constexpr int kSendBufferBytes = 256 * 1024;
// Between two looks at the listener when there are no descriptors for new connections.
constexpr auto kNoDescriptorsWait = std::chrono::milliseconds(100);

}  // namespace

// The threads and their sockets.
class DoorServer::Loop {
 public:
  // `tls`: null where the door is plain.
  Loop(tcp::acceptor::native_handle_type listener, bool ipv6, const DoorServerParts& parts,
       const DoorLimits& limits, std::unique_ptr<DoorTls> tls)
      : parts_(parts),
        limits_(limits),
        tls_(std::move(tls)),
        pool_(kPoolThreads),
        acceptor_(context_, ipv6 ? tcp::v6() : tcp::v4(), listener),
        again_(context_) {
    Accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  // All that waits is closed, so that the thread runs out of work.
  ~Loop() {
    net::post(context_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      again_.cancel();
      for (const auto& weak : connections_) {
        if (const auto connection = weak.lock()) connection->Close();
      }
    });
    thread_.join();
    pool_.join();
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](boost::system::error_code code, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!code) {
        Welcome(std::move(socket));
        return Accept();
      }
      // Without descriptors the listener stays ready: asking at once again would burn a core.
      again_.expires_after(kNoDescriptorsWait);
      again_.async_wait([this](boost::system::error_code stopped) {
        if (!stopped) Accept();
      });
    });
  }

  void Welcome(tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(net::socket_base::send_buffer_size(kSendBufferBytes), ignored);
    if (connections_.size() >= room_) {
      std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
      room_ = std::max<size_t>(64, 2 * connections_.size());
    }
    const bool room = OpenConnections() < limits_.connections;
    auto connection = std::make_shared<DoorConnection>(
        std::move(socket), tls_ == nullptr ? nullptr : &tls_->Current(), parts_, limits_, pool_);
    connections_.push_back(connection);
    connection->Start(room);
  }

  // Counting costs as many looks as there are connections, so only near the limit.
  int OpenConnections() {
    if (static_cast<int>(connections_.size()) < limits_.connections) return 0;
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    return static_cast<int>(connections_.size());
  }

  const DoorServerParts parts_;
  const DoorLimits limits_;
  const std::unique_ptr<DoorTls> tls_;
  net::io_context context_{1};
  net::thread_pool pool_;
  tcp::acceptor acceptor_;
  net::steady_timer again_;
  std::vector<std::weak_ptr<DoorConnection>> connections_;
  size_t room_ = 64;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<DoorServer>> DoorServer::Start(const Address& address,
                                                              const DoorServerParts& parts,
                                                              const DoorLimits& limits,
                                                              const TlsOptions& tls) {
  std::unique_ptr<DoorTls> encryption;
  if (tls.enabled()) {
    REEL_ASSIGN_OR_RETURN(encryption, DoorTls::Make(tls));
  }
  Address real = address;
  REEL_ASSIGN_OR_RETURN(FileDescriptor listener, ListenOn(real));
  const bool ipv6 = real.ToString().front() == '[';
  auto loop =
      std::make_unique<Loop>(listener.release(), ipv6, parts, limits, std::move(encryption));
  return std::unique_ptr<DoorServer>(new DoorServer(std::move(loop), real.ToString()));
}

DoorServer::DoorServer(std::unique_ptr<Loop> loop, std::string address)
    : loop_(std::move(loop)), address_(std::move(address)) {}
DoorServer::~DoorServer() = default;

}  // namespace reel::front
