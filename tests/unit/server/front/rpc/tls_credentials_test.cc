// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "server/front/rpc/grpc_server.h"
#include "tests/integration/certificate_authority.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using tests::CertificateAuthority;
using tests::Identity;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TlsCredentialsTest : public ::testing::Test {
 protected:
  void Install(const Identity& identity) {
    identity.InstallAs(options_.certificate_file, options_.key_file);
  }
  // A connection of its own; whether it came about.
  static bool Connects(const std::string& address, const std::string& roots) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = roots;
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel =
        grpc::CreateCustomChannel(address, grpc::SslCredentials(options), arguments);
    grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
    const auto end = absl::ToChronoTime(absl::Now() + absl::Seconds(60));
    while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE &&
           channel->WaitForStateChange(state, end)) {
      state = channel->GetState(true);
    }
    return state == GRPC_CHANNEL_READY;
  }

  reel::testing::TempFolder folder_;
  CertificateAuthority authority_;
  TlsOptions options_{folder_.File("tls.crt"), folder_.File("tls.key"), ""};
};

TEST_F(TlsCredentialsTest, BadFilesAreRefusedAtTheStart) {
  Install(authority_.Issue("one"));
  EXPECT_TRUE(MakeTlsCredentials(options_).ok());
  folder_.Write("tls.key", ReadFile(authority_.Issue("other").key));
  const auto refused = MakeTlsCredentials(options_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("tls.key_file"));
}

TEST_F(TlsCredentialsTest, TellsUntilWhenACertificateHolds) {
  Install(authority_.Issue("one"));
  absl::Time end = absl::InfiniteFuture();
  const auto credentials = MakeTlsCredentials(options_, [&end](absl::Time told) { end = told; });
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  // The authority gives two days.
  EXPECT_GT(end, absl::Now() + absl::Hours(47));
  EXPECT_LT(end, absl::Now() + absl::Hours(49));
}

TEST_F(TlsCredentialsTest, NoConnectionIsLostToARenewal) {
  const Identity identities[] = {authority_.Issue("one"), authority_.Issue("other")};
  Install(identities[0]);
  GrpcServerOptions server_options;
  server_options.address = "127.0.0.1:0";
  server_options.tls = options_;
  auto server = GrpcServer::Start(server_options, {});
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string roots = ReadFile(authority_.root());
  std::atomic<int> connected = 0;
  std::atomic<bool> lost = false;
  constexpr int kThreads = 4, kEach = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach && !lost; ++i) {
        if (Connects((*server)->address(), roots)) {
          ++connected;
        } else {
          lost = true;
        }
      }
    });
  }
  for (size_t i = 1; connected < kThreads * kEach && !lost; ++i) Install(identities[i % 2]);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(lost);
}

}  // namespace
}  // namespace reel::front
