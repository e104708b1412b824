// SPDX-License-Identifier: Apache-2.0
// A server whose model has an adapter in its weights, from the configuration to the videos.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// A folder of adapters, and the configurations of a tiny model with one of them.
class Adapters : public ::testing::Test {
 protected:
  Adapters() {
    std::filesystem::create_directory(Root());
    std::filesystem::copy(
        std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx/style.safetensors",
        Root());
  }
  std::string Root() const { return folder_.File("loras"); }
  std::string Config(const std::string& adapters, const std::string& registered = "") const {
    return absl::StrCat("adapter_root: '", Root(),
                        "' adapters { name: 'style' file: 'style.safetensors' ", registered,
                        " } models { name: 'tiny' path: '", model_.path(), "' dtype: 'fp32' ",
                        adapters, " }");
  }
  static std::string VideoOf(const ReelServer& server) {
    const StreamResult result = Calls(server.Connect()).Generate(TinyModelSpec(17));
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    return result.file;
  }

  const model::ltx::TinyFolder model_{"0.9.0"};
  const testing::TempFolder folder_;
};

TEST_F(Adapters, AreInTheModelsVideosAndInItsDescription) {
  ReelServer server({Config("adapters { name: 'style' scale: 0.5 }"), {}, "", true});
  ModelCalls models(server);
  const v1::Model with = models.Get("tiny");
  ASSERT_EQ(with.fixed_adapters_size(), 1);
  EXPECT_EQ(with.fixed_adapters(0).name(), "style");
  EXPECT_EQ(with.fixed_adapters(0).scale(), 0.5);
  EXPECT_THAT(with.fixed_adapters(0).sha256(), MatchesRegex("[0-9a-f]{64}"));
  const ProgramResult shown =
      RunProgram(BinaryPath("reel"), {"--server", server.address(), "models"});
  EXPECT_THAT(shown.out, HasSubstr("+ style x 0.5")) << shown.errors;
  const std::string video = VideoOf(server);
  EXPECT_EQ(VideoOf(server), video);

  server.Reconfigure(Config(""));
  ASSERT_TRUE(Eventually([&] { return models.Get("tiny").fixed_adapters_size() == 0; }));
  const std::string without = VideoOf(server);
  EXPECT_NE(without, video);
  server.Reconfigure(Config("adapters { name: 'style' }"));
  ASSERT_TRUE(Eventually([&] { return models.Get("tiny").fixed_adapters_size() == 1; }));
  EXPECT_EQ(models.Get("tiny").fixed_adapters(0).scale(), 1);
  const std::string full = VideoOf(server);
  EXPECT_NE(full, video);
  EXPECT_NE(full, without);
}

TEST_F(Adapters, OfAnotherContentThanTheRegisteredOneAreNotLoaded) {
  ReelServer server(
      {Config("adapters { name: 'style' }", absl::StrCat("sha256: '", std::string(64, 'a'), "'")),
       {},
       "",
       false});
  ModelCalls models(server);
  ASSERT_TRUE(Eventually([&] { return !models.Get("tiny").problem().empty(); }));
  EXPECT_THAT(models.Get("tiny").problem(),
              AllOf(HasSubstr("style.safetensors"), HasSubstr("SHA-256")));
}

TEST_F(Adapters, OutsideTheirFolderAreRefusedAtTheStart) {
  std::filesystem::copy(Root() + "/style.safetensors", folder_.File("outside.safetensors"));
  std::filesystem::remove(Root() + "/style.safetensors");
  std::filesystem::create_symlink("../outside.safetensors", Root() + "/style.safetensors");
  const std::string config = folder_.Write("reel.textproto", Config("adapters { name: 'style' }"));
  const ProgramResult result =
      RunProgram(BinaryPath("reeld"), {"--check_config", "--config", config});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("adapters[0].file"), HasSubstr("leads out")));
}

}  // namespace
}  // namespace reel::tests
