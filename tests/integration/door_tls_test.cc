// SPDX-License-Identifier: Apache-2.0
// The HTTP door under TLS, as curl meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/integration/certificate_authority.h"
#include "tests/integration/door_client.h"
#include "tests/integration/idle_sockets.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client that sends whatever it likes, whenever it likes.
class TlsClient {
 public:
  TlsClient(const std::string& address, const std::string& ca_file)
      : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
        connection_(BIO_new_ssl_connect(context_.get()), &BIO_free_all) {
    EXPECT_EQ(SSL_CTX_load_verify_locations(context_.get(), ca_file.c_str(), nullptr), 1);
    BIO_set_conn_hostname(connection_.get(), address.c_str());
    EXPECT_EQ(BIO_do_handshake(connection_.get()), 1);
  }
  void Send(const std::string& text) const {
    EXPECT_EQ(BIO_write(connection_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  // Until `until` has come, or to the end.
  std::string Receive(const std::string& until = "") const {
    std::string text;
    char piece[4096];
    while (until.empty() || text.find(until) == std::string::npos) {
      const int got = BIO_read(connection_.get(), piece, sizeof piece);
      if (got <= 0) break;
      text.append(piece, static_cast<size_t>(got));
    }
    return text;
  }
  // By TLS, not by a connection that broke off.
  bool was_told_of_the_end() const {
    SSL* ssl = nullptr;
    BIO_get_ssl(connection_.get(), &ssl);
    return (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 private:
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection_;
};

class DoorTls : public ::testing::Test {
 protected:
  ServerSetup Setup(const Identity& identity, const std::string& client_ca = "") {
    Install(identity);
    ServerSetup setup = WithDoor("tls { certificate_file: '" + folder_.File("tls.crt") +
                                 "' key_file: '" + folder_.File("tls.key") + "'" +
                                 (client_ca.empty() ? "" : " client_ca_file: '" + client_ca + "'") +
                                 " }\nhttp { tls: true }\n");
    setup.wait_ready = false;  // who waits does so over plain gRPC
    return setup;
  }
  void Install(const Identity& identity) {
    identity.InstallAs(folder_.File("tls.crt"), folder_.File("tls.key"));
  }
  ProgramResult Curl(const ReelServer& server, const std::string& path,
                     const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> arguments = {
        "-sS",      "--max-time",      "60",
        "--cacert", authority_.root(), "https://" + server.http_address() + path};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunProgram("curl", std::move(arguments));
  }
  void AwaitReady(const ReelServer& server) const {
    EXPECT_TRUE(Eventually([&] { return Curl(server, "/health", {"-f"}).status == 0; }));
  }

  testing::TempFolder folder_;
  CertificateAuthority authority_, stranger_;
};

TEST_F(DoorTls, AVideoIsMadeWatchedAndFetched) {
  ReelServer server(Setup(authority_.Issue("server")));
  AwaitReady(server);
  const ProgramResult made =
      Curl(server, "/reel/v1/videos",
           {"-H", "Content-Type: application/json", "-d", BodyOfSpec(ClipSpec())});
  ASSERT_EQ(made.status, 0) << made.errors;
  const std::string name = nlohmann::json::parse(made.out)["video"]["name"];
  const ProgramResult events = Curl(server, "/reel/v1/" + name + "/events", {"-N"});
  EXPECT_EQ(events.status, 0) << events.errors;
  EXPECT_THAT(events.out, HasSubstr("event: finished"));
  const ProgramResult media = Curl(server, "/reel/v1/" + name + "/media");
  EXPECT_EQ(media.status, 0) << media.errors;
  const std::string told =
      nlohmann::json::parse(Curl(server, "/reel/v1/" + name).out)["video"]["media"]["sizeBytes"];
  EXPECT_EQ(std::to_string(media.out.size()), told);
}

TEST_F(DoorTls, OldProtocolsStrangersAndPlainTextAreRefused) {
  ReelServer server(Setup(authority_.Issue("server")));
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
  EXPECT_NE(Curl(server, "/reel/v1/server", {"--tls-max", "1.1"}).status, 0);
  EXPECT_EQ(Curl(server, "/reel/v1/server", {"--tls-max", "1.2"}).status, 0);
  EXPECT_NE(RunProgram("curl", {"-sS", "https://" + server.http_address() + "/"}).status, 0);
  EXPECT_NE(RunProgram("curl", {"-sS", "http://" + server.http_address() + "/"}).status, 0);
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
}

TEST_F(DoorTls, ARenewedCertificateIsTakenAndABadOneIsNot) {
  ReelServer server(Setup(authority_.Issue("server")));
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
  folder_.Write("tls.crt", "no certificate");
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
  EXPECT_THAT(server.Log(), HasSubstr("the old one stays in use"));
  Install(stranger_.Issue("server"));
  EXPECT_NE(Curl(server, "/reel/v1/server").status, 0);
  Install(authority_.Issue("server"));
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
}

TEST_F(DoorTls, MutualMeansThatOnlyKnownClientsCall) {
  ReelServer server(Setup(authority_.Issue("server"), authority_.root()));
  const Identity known = authority_.Issue("client"), unknown = stranger_.Issue("client");
  EXPECT_EQ(
      Curl(server, "/reel/v1/server", {"--cert", known.certificate, "--key", known.key}).status, 0);
  EXPECT_NE(Curl(server, "/reel/v1/server").status, 0);
  EXPECT_NE(
      Curl(server, "/reel/v1/server", {"--cert", unknown.certificate, "--key", unknown.key}).status,
      0);
}

TEST_F(DoorTls, LeavingIsNoticedThroughIt) {
  ServerSetup setup = Setup(authority_.Issue("server"));
  setup.config += SlowConfig(100);
  ReelServer server(setup);
  AwaitReady(server);
  const ProgramResult left = Curl(server, "/reel/v1/videos:generate",
                                  {"-N", "--max-time", "2", "-H", "Content-Type: application/json",
                                   "-d", BodyOfSpec(ClipSpec(90))});
  EXPECT_THAT(left.out, HasSubstr("event: accepted"));
  EXPECT_TRUE(Eventually([&] {
    const auto videos = nlohmann::json::parse(Curl(server, "/reel/v1/videos").out)["videos"];
    return videos.size() == 1 && videos[0]["state"] == "VIDEO_STATE_CANCELLED";
  }));
}

// The second request's first bytes come while the first one's caller is watched.
TEST_F(DoorTls, RequestsThatComeEarlyAreServedInTurnAndTheEndIsSaid) {
  ServerSetup setup = Setup(authority_.Issue("server"));
  setup.config += SlowConfig(20);
  ReelServer server(setup);
  AwaitReady(server);
  const ProgramResult made =
      Curl(server, "/reel/v1/videos",
           {"-H", "Content-Type: application/json", "-d", BodyOfSpec(ClipSpec(20))});
  ASSERT_EQ(made.status, 0) << made.errors;
  const std::string name = nlohmann::json::parse(made.out)["video"]["name"];
  TlsClient client(server.http_address(), authority_.root());
  client.Send("GET /reel/v1/" + name + "/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_THAT(client.Receive("event: accepted"), StartsWith("HTTP/1.1 200 OK"));
  client.Send("GET /reel/v1/models HTTP/1.1\r\n");
  client.Send("Host: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const std::string rest = client.Receive();
  EXPECT_THAT(rest, HasSubstr("event: finished"));
  EXPECT_THAT(rest, HasSubstr("\"models\""));
  EXPECT_TRUE(client.was_told_of_the_end());
}

// As a browser does: all of the body first.
TEST_F(DoorTls, ARefusedBodyIsReadToItsEndSoThatItsClientReadsWhy) {
  ReelServer server(Setup(authority_.Issue("server")));
  const TlsClient client(server.http_address(), authority_.root());
  client.Send(
      "POST /reel/v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 80000000\r\n\r\n");
  const std::string piece(1'000'000, 'a');
  for (int i = 0; i < 80; ++i) client.Send(piece);
  EXPECT_THAT(client.Receive(), HasSubstr("80000000 bytes, the limit is 67108864"));
  EXPECT_TRUE(client.was_told_of_the_end());
}

TEST_F(DoorTls, AConnectionTakesOneDescriptor) {
  ReelServer server(Setup(authority_.Issue("server")));
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
  const double before = server.Metric("process_open_fds");
  const IdleSockets held(server.http_address(), 100);
  EXPECT_TRUE(Eventually([&] { return server.Metric("process_open_fds") >= before + 90; }));
  EXPECT_LE(server.Metric("process_open_fds"), before + 110);
}

TEST_F(DoorTls, ManyHalfHandshakesHurtNobodyAndEnd) {
  ReelServer server(Setup(authority_.Issue("server")));
  const std::string port = server.http_address().substr(server.http_address().rfind(':') + 1);
  std::vector<std::unique_ptr<Program>> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(std::make_unique<Program>(
        "bash",
        std::vector<std::string>{"-c", "exec 3<>/dev/tcp/127.0.0.1/" + port + "; cat <&3"}));
  }
  EXPECT_EQ(Curl(server, "/reel/v1/server").status, 0);
  for (const auto& program : silent) EXPECT_TRUE(program->WaitForExit().ok());
}

TEST_F(DoorTls, WithoutAGoodCertificateThereIsNoStart) {
  ServerSetup setup = Setup(authority_.Issue("server"));
  folder_.Write("tls.key", "no key");
  const ProgramResult check = RunProgram(
      BinaryPath("reeld"), {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--http=127.0.0.1:0",
                            "--data_dir=" + folder_.File("data"),
                            "--config=" + folder_.Write("reel.textproto", setup.config)});
  EXPECT_NE(check.status, 0);
  EXPECT_THAT(check.errors, HasSubstr("key"));
}

}  // namespace
}  // namespace reel::tests
