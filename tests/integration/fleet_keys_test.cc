// SPDX-License-Identifier: Apache-2.0
// Brokers over TLS that know each server by its key. An unknown server, or one that does not trust
// the brokers, gets an error that says so. A key may do what its role does and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/front/config/secret_files.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/integration/calls.h"
#include "tests/integration/certificate_authority.h"
#include "tests/integration/nats_cluster.h"
#include "tests/integration/nats_keys.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using front::FleetLog;
using front::FleetLogOptions;
using front::FleetView;
using Outcome = front::WriteResult::Outcome;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kShort = absl::Seconds(1);

// What a role may publish beside what all may; as server/front/fleet/README.md has it.
constexpr char kGateway[] =
    "'reel.prod.j.*.*.q', 'reel.prod.j.*.*.x', 'reel.prod.j.*.*.d', 'reel.prod.j.*.*.r.*'";
constexpr char kNode[] = "'reel.prod.j.*.*.c.*', 'reel.prod.j.*.*.f.*', 'reel.prod.j.*.*.x'";
constexpr char kAll[] =
    "'$JS.API.STREAM.INFO.REEL_prod', '$JS.API.STREAM.CREATE.REEL_prod', "
    "'$JS.API.STREAM.MSG.GET.REEL_prod', "
    "'$JS.API.CONSUMER.CREATE.REEL_prod', '$JS.API.CONSUMER.CREATE.REEL_prod.>', "
    "'$JS.API.CONSUMER.DELETE.REEL_prod.*', '$JS.FC.REEL_prod.>', '$JS.API.STREAM.INFO.REEL'";

std::string UserOf(const front::NKey& key, const std::string& node, const std::string& may) {
  return absl::StrCat(
      "{ nkey: ", key.public_key, ", permissions: { publish: { allow: [ ", may, ", 'reel.prod.hb.",
      node, "', ", kAll,
      " ] }, subscribe: { allow: [ '_INBOX.>', 'reel.prod.hb.*', 'reel.prod.live.>' ] } } }\n");
}

class FleetKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NatsServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no nats-server here; deploy/build/setup --fleet installs it";
    }
    for (const char* name : {"gateway", "node", "stranger"}) {
      keys_[name] = *front::ParseNKeySeed(MakeNKeySeed());
      const std::string seed = folder_.Write(name, keys_[name].seed + "\n");
      ASSERT_EQ(::chmod(seed.c_str(), 0600), 0);
    }
    cluster_ = std::make_unique<NatsCluster>(1, NatsSetup{Access(), "tls://"});
  }

  // Of the brokers; without `node` that key is not known.
  std::string Access(bool node = true) const {
    const Identity own = authority_.Issue("broker");
    return absl::StrCat("tls { cert_file: '", own.certificate, "', key_file: '", own.key,
                        "' }\nauthorization { users: [\n",
                        UserOf(keys_.at("gateway"), "gateway", kGateway),
                        node ? UserOf(keys_.at("node"), "node", kNode) : "", "] }\n");
  }
  FleetLogOptions OptionsOf(const std::string& name) const {
    FleetLogOptions options;
    options.fleet = "prod";
    options.urls = cluster_->urls();
    options.max_bytes = 64 << 20;
    options.ca_file = authority_.root();
    options.nkey_seed = keys_.at(name).seed;
    options.nkey_public = keys_.at(name).public_key;
    return options;
  }
  std::string Fleet(const std::string& node, const std::string& key, const std::string& ca,
                    const std::string& more = "") const {
    return absl::StrCat("data { max_bytes: 1000000000 } fleet { name: 'prod' node: '", node,
                        "' listen: '127.0.0.1:0' nats { urls: '", cluster_->urls()[0],
                        "' ca_file: '", ca, "' nkey_seed_file: '", folder_.File(key),
                        "' max_bytes: 67108864 } ", more, "}\n");
  }
  // What /readyz says, whatever its status.
  static std::string Readiness(const ReelServer& server) {
    httplib::Client client("http://" + server.metrics_address());
    const httplib::Result result = client.Get("/readyz");
    return result ? result->body : "";
  }
  // Of a server that does not come up.
  ProgramResult Refused(const std::string& config) const {
    const testing::TempFolder folder;
    return RunProgram(BinaryPath("reeld"), {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0",
                                            "--model=testcard", "--data_dir=" + folder.File("data"),
                                            "--config=" + folder.Write("reel.textproto", config)});
  }

  testing::TempFolder folder_;
  CertificateAuthority authority_, other_authority_;
  std::map<std::string, front::NKey> keys_;
  std::unique_ptr<NatsCluster> cluster_;
};

TEST_F(FleetKeysTest, AGatewayAndANodeRenderAVideoEachWithItsOwnKey) {
  ServerSetup node;
  node.config =
      "models { name: 'testcard' test_card {} }\n" + Fleet("node", "node", authority_.root());
  ReelServer renders(node);
  ServerSetup gateway;
  gateway.config = Fleet("gateway", "gateway", authority_.root(), "gateway: true ");
  ReelServer takes(gateway);
  const StreamResult stream = Calls(takes.Connect()).Generate(SmallSpec("a boat"));
  EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
  EXPECT_EQ(Sha256Hex(stream.file), stream.finished.media().sha256());
  EXPECT_THAT(takes.Log() + renders.Log(), Not(HasSubstr("Permissions Violation")));
  const auto doctor = [](const ReelServer& server) {
    return RunProgram(BinaryPath("reel"), {"--server", server.address(), "doctor"}).out;
  };
  EXPECT_THAT(doctor(takes), HasSubstr("ok       fleet permissions: may take requests\n"));
  EXPECT_THAT(doctor(renders),
              HasSubstr("ok       fleet permissions: may not take requests, may render\n"));
  for (const auto& [name, key] : keys_) {
    EXPECT_THAT(takes.Log() + renders.Log(), Not(HasSubstr(key.seed)));
  }
}

TEST_F(FleetKeysTest, AKeyThatNoBrokerKnowsIsRefusedWithWords) {
  const ProgramResult refused = Refused(Fleet("node", "stranger", authority_.root()));
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("refuse this server"), HasSubstr(keys_["stranger"].public_key),
                    Not(HasSubstr(keys_["stranger"].seed))));
}

TEST_F(FleetKeysTest, BrokersOfAnotherAuthorityAreNotTrusted) {
  const ProgramResult refused = Refused(Fleet("node", "node", other_authority_.root()));
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("no NATS server can be connected"), HasSubstr("certificate")));
}

TEST_F(FleetKeysTest, ABrokerThatDoesNotEncryptIsNotTakenForOneThatDoes) {
  const NatsCluster plain(1);
  FleetLogOptions options = OptionsOf("node");
  options.urls = {"tls://" + plain.address(0)};
  FleetView view;
  absl::Status refused;
  ASSERT_TRUE(Eventually([&] {
    refused = FleetLog::Open(options, {}, view).status();
    return !absl::IsUnavailable(refused);  // it is still starting
  }));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("speaks no TLS"));
  // Nor is the encrypted one taken in the open.
  options.urls = {"nats://" + cluster_->address(0)};
  options.connect_limit = absl::Seconds(1);
  EXPECT_FALSE(FleetLog::Open(options, {}, view).ok());
}

std::string BeatOf(const std::string& node) {
  front::NodeBeat beat;
  beat.node = node;
  return front::WriteBeat(beat);
}

TEST_F(FleetKeysTest, AKeyMayDoWhatItsRoleDoesAndNothingElse) {
  FleetView seen_by_gateway, seen_by_node;
  auto gateway = front::NatsPort::Open(OptionsOf("gateway"), seen_by_gateway);
  ASSERT_TRUE(gateway.ok()) << gateway.status();
  auto node = front::NatsPort::Open(OptionsOf("node"), seen_by_node);
  ASSERT_TRUE(node.ok()) << node.status();
  const auto outcome = [](front::NatsPort& port, const std::string& subject) {
    static int count = 0;
    const auto result =
        port.Write({subject, front::WriteClaim({"node", ""}), absl::StrCat("m", ++count)}, kShort);
    return result.ok() ? result->outcome : Outcome::kUnknown;
  };
  // What is not allowed is not answered.
  EXPECT_EQ(outcome(**gateway, "j.t.v1.c.1"), Outcome::kUnknown);
  EXPECT_EQ(outcome(**gateway, "j.t.v1.f.1"), Outcome::kUnknown);
  EXPECT_EQ(outcome(**node, "j.t.v1.q"), Outcome::kUnknown);
  EXPECT_EQ(outcome(**node, "j.t.v1.d"), Outcome::kUnknown);
  EXPECT_EQ(outcome(**gateway, "j.t.v1.q"), Outcome::kWon);
  EXPECT_EQ(outcome(**node, "j.t.v1.c.1"), Outcome::kWon);
  // A sign of life is its own node's alone: the second arrives, the first was sent before it.
  const std::string of_gateway = BeatOf("gateway"), of_node = BeatOf("node");
  (*node)->SendBeat("gateway", of_gateway);
  (*node)->SendBeat("node", of_node);
  std::vector<std::string> heard;
  ASSERT_TRUE(Eventually([&] {
    for (std::string& beat : (*gateway)->TakeBeats()) heard.push_back(std::move(beat));
    return !heard.empty();
  }));
  EXPECT_EQ(heard, std::vector<std::string>{of_node});
}

TEST_F(FleetKeysTest, AKeyThatIsTakenAwayCutsItsServerOffUntilThatIsStartedAgain) {
  ServerSetup setup;
  setup.config =
      "models { name: 'testcard' test_card {} }\n" + Fleet("node", "node", authority_.root());
  ReelServer server(setup);
  cluster_->Reconfigure(Access(/*node=*/false));
  ASSERT_TRUE(Eventually([&] { return server.Metric("reel_fleet_log_connected") == 0; }));
  EXPECT_TRUE(Eventually([&] {
    return Readiness(server).find("restart this server") != std::string::npos;
  })) << Readiness(server);
  EXPECT_THAT(server.Log(), HasSubstr("the broker reports an error"));
  // Whoever is started again is told why, until the key is known again.
  const ProgramResult refused = Refused(setup.config);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr("refuse this server"));
  cluster_->Reconfigure(Access());
  FleetView view;
  EXPECT_TRUE(Eventually([&] { return FleetLog::Open(OptionsOf("node"), {}, view).ok(); }));
}

}  // namespace
}  // namespace reel::tests
