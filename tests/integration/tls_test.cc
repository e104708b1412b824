// SPDX-License-Identifier: Apache-2.0
// Encryption, as an operator sets it up and a user meets it: the real programs, with certificates
// of the test's own.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/integration/calls.h"
#include "tests/integration/certificate_authority.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kUnavailable = 4;  // exit codes of `reel`

class Tls : public ::testing::Test {
 protected:
  // What a server is configured with; files of its own, which a test may rewrite.
  ServerSetup Setup(const Identity& identity, const std::string& client_ca = "") {
    Install(identity);
    ServerSetup setup;
    setup.config = "tls { certificate_file: '" + folder_.File("tls.crt") + "' key_file: '" +
                   folder_.File("tls.key") + "'";
    if (!client_ca.empty()) setup.config += " client_ca_file: '" + client_ca + "'";
    setup.config += " }\n";
    return setup;
  }
  void Install(const Identity& identity) {
    identity.InstallAs(folder_.File("tls.crt"), folder_.File("tls.key"));
  }
  void InstallText(const std::string& certificate, const std::string& key) {
    folder_.Write("tls.crt", certificate);
    folder_.Write("tls.key", key);
  }
  static std::string ReadFile(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // `reel --server ADDRESS ARGUMENTS...`
  static ProgramResult Reel(const ReelServer& server, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", server.address()});
    return RunProgram(BinaryPath("reel"), std::move(arguments));
  }
  // A connection that trusts one authority.
  static std::shared_ptr<grpc::Channel> Connect(const ReelServer& server,
                                                const CertificateAuthority& authority) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = ReadFile(authority.root());
    return server.Connect(grpc::SslCredentials(options));
  }
  // Whether a new connection that trusts the authority comes about.
  static bool Reaches(const ReelServer& server, const CertificateAuthority& authority) {
    const auto channel = Connect(server, authority);
    grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
    const auto end = absl::ToChronoTime(absl::Now() + kPatience);
    while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE &&
           channel->WaitForStateChange(state, end)) {
      state = channel->GetState(true);
    }
    return state == GRPC_CHANNEL_READY;
  }

  testing::TempFolder folder_;
  CertificateAuthority authority_, stranger_;
};

TEST_F(Tls, TheClientRendersOverIt) {
  ReelServer server(Setup(authority_.Issue("server")));
  const std::string file = folder_.File("a.mp4");
  const ProgramResult made =
      Reel(server, {"--tls-ca", authority_.root(), "generate", "a lighthouse", "--width", "128",
                    "--height", "96", "--frames", "9", "--steps", "4", "-o", file});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(made.out, file + "\n");
  EXPECT_THAT(folder_.Read("a.mp4").substr(0, 16), HasSubstr("ftyp"));
  EXPECT_EQ(Reel(server, {"--tls-ca", authority_.root(), "doctor"}).status, 0);
}

TEST_F(Tls, PlaintextIsRefusedAndSaysWhatToTry) {
  ReelServer server(Setup(authority_.Issue("server")));
  const ProgramResult plain = Reel(server, {"info"});
  EXPECT_EQ(plain.status, kUnavailable);
  EXPECT_THAT(plain.errors, HasSubstr("--tls"));
  EXPECT_EQ(Reel(server, {"--tls-ca", authority_.root(), "info"}).status, 0);
}

TEST_F(Tls, AServerOfAnotherAuthorityIsNotTrusted) {
  ReelServer server(Setup(authority_.Issue("server")));
  const ProgramResult result = Reel(server, {"--tls-ca", stranger_.root(), "info"});
  EXPECT_EQ(result.status, kUnavailable) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("certificate"));
}

TEST_F(Tls, MutualMeansThatOnlyKnownClientsCall) {
  ReelServer server(Setup(authority_.Issue("server"), authority_.root()));
  const auto info = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"--tls-ca", authority_.root()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back("info");
    return Reel(server, arguments);
  };
  const Identity known = authority_.Issue("client"), unknown = stranger_.Issue("client");
  EXPECT_EQ(info({"--tls-cert", known.certificate, "--tls-key", known.key}).status, 0);
  const ProgramResult anonymous = info({});
  EXPECT_EQ(anonymous.status, kUnavailable);
  EXPECT_THAT(anonymous.errors, HasSubstr("--tls-cert"));
  const ProgramResult stranger =
      info({"--tls-cert", unknown.certificate, "--tls-key", unknown.key});
  EXPECT_EQ(stranger.status, kUnavailable) << stranger.errors;
  EXPECT_EQ(info({"--tls-cert", known.certificate, "--tls-key", known.key}).status, 0);
}

TEST_F(Tls, ARenewedCertificateIsTakenAndNoStreamIsCut) {
  ServerSetup setup = Setup(authority_.Issue("server"));
  setup.config += SlowConfig(100);
  ReelServer server(setup);
  Calls calls(Connect(server, authority_));
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("a lighthouse");
  request.mutable_spec()->set_num_inference_steps(100);
  int steps_after = 0;
  std::string name;
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_accepted()) {
      name = event.accepted().name();
      EXPECT_FALSE(Reaches(server, stranger_));
      Install(stranger_.Issue("server"));
      EXPECT_TRUE(Reaches(server, stranger_));
      EXPECT_FALSE(Reaches(server, authority_));
    } else if (event.has_progress() && event.progress().step() > 0 && ++steps_after == 3) {
      v1::CancelVideoRequest cancel;
      cancel.set_name(name);
      v1::CancelVideoResponse cancelled;
      grpc::ClientContext context;
      EXPECT_TRUE(calls.videos().CancelVideo(&context, cancel, &cancelled).ok());
    }
    return true;
  });
  EXPECT_EQ(result.reason(), "CANCELLED_BY_OWNER") << result.status.error_message();
  EXPECT_THAT(result.faults, IsEmpty());
}

TEST_F(Tls, ABadRenewalIsLoggedAndTheOldCertificateServesOn) {
  const Identity good = authority_.Issue("server");
  ReelServer server(Setup(good));
  ASSERT_TRUE(Reaches(server, authority_));
  InstallText("no certificate", ReadFile(good.key));
  EXPECT_TRUE(Reaches(server, authority_));
  EXPECT_THAT(server.Log(), HasSubstr("the old one stays in use"));
  Install(stranger_.Issue("server"));
  EXPECT_TRUE(Reaches(server, stranger_));
}

TEST_F(Tls, TheHealthPortIsPlainAndKnowsNothingElse) {
  ServerSetup setup = Setup(authority_.Issue("server"), authority_.root());
  setup.config += "health_listen: '127.0.0.1:0'";
  const ReelServer server(setup);
  const auto channel =
      grpc::CreateChannel(server.health_address(), grpc::InsecureChannelCredentials());
  grpc::health::v1::HealthCheckResponse health;
  grpc::ClientContext first, second;
  const auto stub = grpc::health::v1::Health::NewStub(channel);
  EXPECT_TRUE(stub->Check(&first, {}, &health).ok());
  EXPECT_EQ(health.status(), grpc::health::v1::HealthCheckResponse::SERVING);
  v1::GetServerInfoResponse info;
  const grpc::Status refused = Calls(channel).server().GetServerInfo(&second, {}, &info);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(Tls, FilesThatCannotServeEndTheStart) {
  const Identity one = authority_.Issue("one"), other = authority_.Issue("other");
  struct Case {
    const char* why;
    std::string certificate, key, client_ca, names;
  };
  const std::string text = ReadFile(one.certificate), key = ReadFile(one.key);
  for (const Case& bad : {Case{"no PEM", "x", key, "", "tls.certificate_file"},
                          Case{"no key", text, "x", "", "tls.key_file"},
                          Case{"another's key", text, ReadFile(other.key), "", "tls.key_file"},
                          Case{"no authority", text, key, other.key, "tls.client_ca_file"}}) {
    const ServerSetup setup = Setup(one, bad.client_ca);
    InstallText(bad.certificate, bad.key);
    const ProgramResult result =
        RunProgram(BinaryPath("reeld"),
                   {"--check_config", "--config", folder_.Write("reel.textproto", setup.config)});
    EXPECT_EQ(result.status, 1) << bad.why;
    EXPECT_THAT(result.errors, HasSubstr(bad.names)) << bad.why;
  }
}

}  // namespace
}  // namespace reel::tests
