// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_checks.h"
#include "server/front/fleet/nats_port.h"

namespace reel::front {
namespace {

// Greets everybody who comes with the same bytes and hangs up.
class Greeter {
 public:
  explicit Greeter(std::string greeting) : greeting_(std::move(greeting)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    url_ = absl::StrCat("nats://127.0.0.1:", ntohs(place.sin_port));
    thread_ = std::thread([this] {
      for (int peer; (peer = ::accept(listener_, nullptr, nullptr)) >= 0;) {
        ::send(peer, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
        ::close(peer);
      }
    });
  }
  ~Greeter() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& url() const { return url_; }

 private:
  const std::string greeting_;
  int listener_ = -1;
  std::string url_;
  std::thread thread_;
};

TEST(ServerVersion, IsReadFromTheGreeting) {
  EXPECT_EQ(VersionOfInfo("INFO {\"server_id\":\"N\",\"version\":\"2.10.29\",\"go\":\"go1.24\"} \r")
                .value(),
            "2.10.29");
  for (const std::string line : {"", "INFO", "INFO ", "INFO {", "INFO []", "INFO {\"version\":2}",
                                 "INFO {\"go\":\"go1.24\"}", "HTTP/1.1 400 Bad Request", "-ERR 'x'",
                                 "info {\"version\":\"2.10.29\"}"}) {
    EXPECT_FALSE(VersionOfInfo(line).ok()) << line;
  }
}

TEST(ServerVersion, ThatIsTooOldIsRefusedWithBothNumbers) {
  for (const std::string good :
       {"2.10.29", "2.10.30", "2.11.0", "2.15.2", "3.0.0", "2.11.0-RC.1"}) {
    EXPECT_TRUE(CheckVersion(good, 3).ok()) << good;
  }
  for (const std::string old : {"2.9.10", "2.9.25", "2.10.28", "2.10.29-RC.1", "1.4.1", "2.2.99"}) {
    const absl::Status refused = CheckVersion(old, 3);
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(refused.message().find(old), absl::string_view::npos) << refused;
    EXPECT_NE(refused.message().find("2.10.29"), absl::string_view::npos) << refused;
  }
  // One replica has none of what is wrong with them.
  EXPECT_TRUE(CheckVersion("2.9.10", 1).ok());
  EXPECT_FALSE(CheckVersion("2.8.4", 1).ok());
  for (const std::string none :
       {"", "2", "2.10", "2.10.29.1", "v2.10.29", "2.x.1", "2.-1.0", "99999999999.0.0"}) {
    EXPECT_FALSE(CheckVersion(none, 1).ok()) << none;
  }
}

TEST(ServerVersion, IsAskedOverTheNetwork) {
  const Greeter server("INFO {\"version\":\"2.10.29\"}\r\n");
  EXPECT_EQ(AskVersion(server.url(), absl::Seconds(10)).value(), "2.10.29");
  const Greeter silent("");
  EXPECT_TRUE(absl::IsUnavailable(AskVersion(silent.url(), absl::Seconds(10)).status()));
  const Greeter other("SSH-2.0-x\r\n");
  EXPECT_TRUE(absl::IsInvalidArgument(AskVersion(other.url(), absl::Seconds(10)).status()));
  const Greeter endless(std::string(1 << 18, 'x'));
  EXPECT_FALSE(AskVersion(endless.url(), absl::Seconds(10)).ok());
}

TEST(ServerVersion, OfOneOldServerIsEnoughForNoLog) {
  const Greeter good("INFO {\"version\":\"2.10.29\"}\r\n");
  const Greeter old("INFO {\"version\":\"2.9.10\"}\r\n");
  FleetLogOptions options;
  options.urls = {good.url(), old.url()};
  options.replicas = 3;
  FleetView view;
  EXPECT_TRUE(absl::IsFailedPrecondition(FleetLog::Open(options, {}, view).status()));
  options.urls = {};
  EXPECT_TRUE(absl::IsInvalidArgument(FleetLog::Open(options, {}, view).status()));
}

}  // namespace
}  // namespace reel::front
