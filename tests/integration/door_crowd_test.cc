// SPDX-License-Identifier: Apache-2.0
// Thousands of event streams that say next to nothing, plain and encrypted: what they cost a server
// in memory and CPU time, and its other callers in time. By hand: ctest --test-dir build/release -L
// soak
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/certificate_authority.h"
#include "tests/integration/door_client.h"
#include "tests/integration/loopback.h"

namespace reel::tests {
namespace {

constexpr double kKiB = 1024;
constexpr absl::Duration kLook = absl::Seconds(20);
// A job that has an event every few seconds.
constexpr char kSlowDevice[] =
    "models { name: 'testcard' test_card { step_time { seconds: 4 } } }\n"
    "scheduler { order: 'fifo' fill_rows: 1 }\n";

std::string EventsRequest(const std::string& id) {
  return absl::StrCat("GET /reel/v1/videos/", id, "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

// A stream that has been answered and stays open, unread.
class EventStream {
 public:
  virtual ~EventStream() = default;
};

class PlainStream : public EventStream {
 public:
  PlainStream(const std::string& address, const std::string& id) : fd_(ConnectTo(address)) {
    const std::string request = EventsRequest(id);
    char byte = 0;
    EXPECT_EQ(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    EXPECT_EQ(::recv(fd_, &byte, 1, 0), 1);
  }
  ~PlainStream() override { ::close(fd_); }

 private:
  const int fd_;
};

class TlsStream : public EventStream {
 public:
  TlsStream(SSL_CTX& context, const std::string& address, const std::string& id)
      : fd_(ConnectTo(address)), tls_(SSL_new(&context)) {
    SSL_set_fd(tls_, fd_);
    const std::string request = EventsRequest(id);
    char byte = 0;
    EXPECT_EQ(SSL_connect(tls_), 1);
    EXPECT_EQ(SSL_write(tls_, request.data(), static_cast<int>(request.size())),
              static_cast<int>(request.size()));
    EXPECT_EQ(SSL_read(tls_, &byte, 1), 1);
  }
  ~TlsStream() override {
    SSL_free(tls_);
    ::close(fd_);
  }

 private:
  const int fd_;
  SSL* const tls_;
};

// What the process has used of CPUs.
absl::Duration CpuTime(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> fields = absl::StrSplit(line.substr(line.rfind(')') + 2), ' ');
  int64_t user = 0, system = 0;
  EXPECT_TRUE(absl::SimpleAtoi(fields[11], &user) && absl::SimpleAtoi(fields[12], &system));
  return absl::Seconds(static_cast<double>(user + system) /
                       static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

// Of small calls for the length of a look, a hundred a second.
absl::Duration P99OfCalls(Calls& calls) {
  std::vector<absl::Duration> took;
  const absl::Time end = absl::Now() + kLook;
  for (absl::Time due = absl::Now(); due < end; due += absl::Milliseconds(10)) {
    absl::SleepFor(due - absl::Now());
    v1::GetServerInfoResponse info;
    grpc::ClientContext context;
    const absl::Time start = absl::Now();
    EXPECT_TRUE(calls.server().GetServerInfo(&context, {}, &info).ok());
    took.push_back(absl::Now() - start);
  }
  std::ranges::sort(took);
  return took[took.size() * 99 / 100];
}

struct Cost {
  double each = 0;  // bytes
  double busy = 0;  // of a core, beside what the calls take without streams
  absl::Duration p99;
};

using Open = std::function<std::unique_ptr<EventStream>(const std::string& id)>;

Cost CostOf(const std::string& what, ReelServer& server, Calls& calls, int count,
            const Open& open) {
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_num_inference_steps(100);
  const std::string name = calls.Create(spec).name();
  const std::string id = name.substr(name.find('/') + 1);
  EXPECT_TRUE(Eventually([&] { return calls.Get(name).state() == v1::VIDEO_STATE_RUNNING; }));
  const absl::Duration cpu_at_first = CpuTime(server.pid());
  const absl::Duration alone = P99OfCalls(calls);
  const double calls_alone = absl::FDivDuration(CpuTime(server.pid()) - cpu_at_first, kLook);
  const int64_t before = server.MemoryBytes();
  const absl::Duration cpu_before = CpuTime(server.pid());
  std::vector<std::unique_ptr<EventStream>> streams;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) streams.push_back(open(id));
  const absl::Duration opening = CpuTime(server.pid()) - cpu_before;
  Cost cost;
  cost.each = static_cast<double>(server.MemoryBytes() - before) / count;
  const absl::Duration cpu = CpuTime(server.pid());
  cost.p99 = P99OfCalls(calls);
  cost.busy = absl::FDivDuration(CpuTime(server.pid()) - cpu, kLook) - calls_alone;
  std::cout << "FIGURE " << count << " " << what << " event streams: " << cost.each / kKiB
            << " KiB each, " << cost.each * count / kKiB / kKiB << " MiB; opened with "
            << opening / count << " of CPU time each, then " << 100 * cost.busy
            << " % of a core beside " << 100 * calls_alone
            << " % for the calls; p99 of a small call " << cost.p99 << ", " << alone
            << " without them\n";
  return cost;
}

TEST(Crowd, TenThousandIdleEventStreamsCostLittle) {
  ReelServer server(WithDoor(kSlowDevice));
  Calls calls(server.Connect());
  const Cost cost = CostOf("plain", server, calls, 10'000, [&](const std::string& id) {
    return std::make_unique<PlainStream>(server.http_address(), id);
  });
  EXPECT_LE(cost.each * 10'000, 80 * kKiB * kKiB);
  EXPECT_LE(cost.busy, 0.05);
  EXPECT_LE(cost.p99, absl::Milliseconds(50));
}

TEST(Crowd, ThousandsOfEncryptedStreamsAreBoundedToo) {
  const testing::TempFolder folder;
  CertificateAuthority authority;
  authority.Issue("server").InstallAs(folder.File("tls.crt"), folder.File("tls.key"));
  ServerSetup setup =
      WithDoor(absl::StrCat(kSlowDevice, "tls { certificate_file: '", folder.File("tls.crt"),
                            "' key_file: '", folder.File("tls.key"), "' }\nhttp { tls: true }\n"));
  ReelServer server(setup);
  grpc::SslCredentialsOptions trust;
  std::ifstream root(authority.root());
  trust.pem_root_certs.assign((std::istreambuf_iterator<char>(root)), {});
  Calls calls(server.Connect(grpc::SslCredentials(trust)));
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  const Cost cost = CostOf("encrypted", server, calls, 2'000, [&](const std::string& id) {
    return std::make_unique<TlsStream>(*context, server.http_address(), id);
  });
  EXPECT_LE(cost.each, 128 * kKiB);
  EXPECT_LE(cost.p99, absl::Milliseconds(50));
}

}  // namespace
}  // namespace reel::tests
