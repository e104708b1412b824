// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/load_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/front/config/config_checks.h"

namespace reel::front {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::filesystem::path ShippedFolder() {
  return std::filesystem::path(std::getenv("REEL_SOURCE")) / "deploy/config";
}

config::v1::ServerConfig ReadShipped(const std::filesystem::path& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  config::v1::ServerConfig config;
  EXPECT_THAT(ParseConfigText(text, config), IsEmpty()) << path;
  return config;
}

std::string Write(const std::string& name, const std::string& text, mode_t mode = 0644) {
  std::string path = ::testing::TempDir() + "/load_config_test_" + name;
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
  return path;
}

TEST(LoadConfig, WarnsWhereTheTestCardStandsInForAModel) {
  const Surroundings bare = {.xdg_state_home = "/state", .home = "", .models_folder = ""};
  EXPECT_THAT(LoadConfig({}, bare).warnings, Contains(HasSubstr("ltx-demo")));
  Flags flags;
  flags.model = "testcard";
  EXPECT_THAT(LoadConfig(flags, bare).warnings, IsEmpty());
}

TEST(LoadConfig, NoConfigurationIsLegal) {
  const LoadedConfig loaded = LoadConfig({}, {"/state", ""});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.effective, HasSubstr("127.0.0.1:50051"));
}

TEST(LoadConfig, GathersTheProblemsOfEveryStage) {
  Flags flags;
  flags.config_file = Write("bad", "lisen: 'x'\nmetrics_listen: 'y'\n");
  flags.model = "nosuchmodel";
  const LoadedConfig loaded = LoadConfig(flags, {"/state", ""});
  EXPECT_THAT(loaded.problems, Contains(HasSubstr(flags.config_file + ":1:")));
  EXPECT_THAT(loaded.problems, Contains(HasSubstr("metrics_listen:")));
  EXPECT_THAT(loaded.problems, Contains(HasSubstr("--model:")));
}

// But for the files that they name: those are where they are deployed.
TEST(ShippedFiles, AreLegal) {
  int files = 0;
  const std::filesystem::path folder = ShippedFolder();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".textproto") continue;
    ++files;
    Surroundings surroundings = {"/state", ""};
    surroundings.host_name = "host-7";
    surroundings.visible_gpus = 1;
    config::v1::ServerConfig config = ReadShipped(entry.path());
    FillDefaults(surroundings, config);
    EXPECT_THAT(CheckConfig(config).problems, IsEmpty()) << entry.path();
  }
  EXPECT_GT(files, 5);
}

TEST(ShippedFiles, TheDefaultOneSaysWhatHoldsWithoutAFile) {
  config::v1::ServerConfig written = ReadShipped(ShippedFolder() / "default.textproto");
  config::v1::ServerConfig unset;
  for (config::v1::ServerConfig* const config : {&written, &unset}) {
    FillDefaults({"/state", ""}, *config);
    // What the test card's costs are unset is the model's to say.
    config->mutable_models(0)->mutable_test_card()->Clear();
  }
  EXPECT_EQ(ConfigForLog(written), ConfigForLog(unset));
}

TEST(LoadConfig, AMissingFileIsAProblemThatNamesIt) {
  Flags flags;
  flags.config_file = "/nowhere/reel.textproto";
  EXPECT_THAT(LoadConfig(flags, {"/state", ""}).problems,
              Contains(HasSubstr("/nowhere/reel.textproto")));
}

TEST(LoadConfig, AKeyThatOthersCanReadIsRefused) {
  Flags flags;
  const std::string certificate = Write("cert", "c");
  const std::string key = Write("key", "k", 0644);
  flags.config_file =
      Write("tls", "tls { certificate_file: '" + certificate + "' key_file: '" + key + "' }");
  EXPECT_THAT(LoadConfig(flags, {"/state", ""}).problems, Contains(HasSubstr("has 0644")));
  chmod(key.c_str(), 0600);
  EXPECT_THAT(LoadConfig(flags, {"/state", ""}).problems, Not(Contains(HasSubstr("has 06"))));
}

TEST(LoadConfig, TokensAreReadAndChecked) {
  Flags flags;
  const std::string tokens = Write("tokens", std::string(64, 'a') + " t user\n", 0600);
  flags.config_file = Write("auth", "auth { tokens_file: '" + tokens + "' }");
  EXPECT_EQ(LoadConfig(flags, {"/state", ""}).tokens.size(), 1U);
  chmod(tokens.c_str(), 0644);
  EXPECT_THAT(LoadConfig(flags, {"/state", ""}).problems, Contains(HasSubstr("auth.tokens_file:")));
}

TEST(LoadConfig, FilesForACollectorAreReadAndChecked) {
  Flags flags;
  const std::string headers = Write("headers", "Authorization: Bearer canary\n", 0600);
  const std::string ca = Write("ca", "no certificate");
  flags.config_file = Write("traces", "telemetry { otlp_endpoint: 'https://c' otlp_ca_file: '" +
                                          ca + "' otlp_headers_file: '" + headers + "' }");
  const LoadedConfig loaded = LoadConfig(flags, {"/state", ""});
  EXPECT_THAT(loaded.problems, ::testing::ElementsAre(HasSubstr("telemetry.otlp_ca_file: ")));
  EXPECT_THAT(loaded.effective, Not(HasSubstr("canary")));
  chmod(headers.c_str(), 0644);
  EXPECT_THAT(LoadConfig(flags, {"/state", ""}).problems,
              Contains(HasSubstr("telemetry.otlp_headers_file: ")));
}

}  // namespace
}  // namespace reel::front
