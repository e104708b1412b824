// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/self_check.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/front/config/address.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// The wildcard address is reached over loopback.
Address Reachable(const std::string& bound) {
  Address address = ParseAddress(bound).value_or(Address{});
  if (address.host == "0.0.0.0" || address.host == "localhost") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  return address;
}

bool ProbePlaintext(const SelfCheckOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new connection each time
  auto channel = grpc::CreateCustomChannel(Reachable(options.address).ToString(),
                                           grpc::InsecureChannelCredentials(), arguments);
  auto stub = grpc::health::v1::Health::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(options.timeout));
  grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse response;
  request.set_service("liveness");
  // Any answer at all shows that the listener lives; a refusal of ours has details.
  const grpc::Status status = stub->Check(&context, request, &response);
  return !status.error_details().empty() ||
         (status.error_code() != grpc::StatusCode::UNAVAILABLE &&
          status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED);
}

class Socket {
 public:
  explicit Socket(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool ProbeTls(const SelfCheckOptions& options) {
  const Address address = Reachable(options.address);
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(address.port));
  const bool is_v4 = inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) != 1) return true;
  const Socket connection(is_v4 ? AF_INET : AF_INET6);
  if (connection.get() < 0) return false;
  const timeval limit = absl::ToTimeval(options.timeout);
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto* target =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  if (connect(connection.get(), target, size) != 0) return false;
  shutdown(connection.get(), SHUT_WR);  // there will be no handshake
  char byte = 0;
  const ssize_t got = recv(connection.get(), &byte, 1, 0);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace

bool ProbeOnce(const SelfCheckOptions& options) {
  return options.tls ? ProbeTls(options) : ProbePlaintext(options);
}

SelfCheck::SelfCheck(SelfCheckOptions options, std::function<void()> failed)
    : options_(std::move(options)), failed_(std::move(failed)), thread_([this] { Run(); }) {}

SelfCheck::~SelfCheck() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  thread_.join();
}

void SelfCheck::Run() {
  int misses = 0;
  using Clock = std::chrono::steady_clock;
  const Clock::duration period = absl::ToChronoNanoseconds(options_.period);
  Clock::time_point next = Clock::now();
  for (;;) {
    {
      MutexLock lock(mutex_);
      // From one beginning to the next: a dead listener lets a call wait for its whole timeout.
      next = std::max(next + period, Clock::now());
      while (!stopping_ && Clock::now() < next) {
        stop_.WaitFor(mutex_, absl::FromChrono(next - Clock::now()));
      }
      if (stopping_) return;
    }
    const Clock::time_point began = Clock::now();
    if (ProbeOnce(options_) || (options_.taken && options_.taken() >= began)) {
      misses = 0;
      continue;
    }
    ++misses;
    if (options_.missed) options_.missed();
    Log(LogLevel::kWarning, "The server did not answer its own call",
        {{"address", options_.address}, {"misses", misses}});
    if (misses >= options_.misses) {
      failed_();
      return;
    }
  }
}

}  // namespace reel::front
