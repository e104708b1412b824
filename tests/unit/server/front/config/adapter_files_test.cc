// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/named_parts.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AdapterPaths : public ::testing::Test {
 protected:
  AdapterPaths() {
    std::filesystem::create_directories(Root() + "/style");
    folder_.Write("loras/style/grain.safetensors", "x");
    folder_.Write("secret", "x");
  }
  std::string Root() const { return folder_.path() + "/loras"; }
  absl::StatusOr<std::string> Below(const std::string& file) const {
    return PathBelow(Root(), file);
  }
  void Link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, Root() + "/" + name);
  }

  const reel::testing::TempFolder folder_;
};

TEST_F(AdapterPaths, AreRealOnesBelowTheRoot) {
  const std::string real = std::filesystem::canonical(Root()).string() + "/style/grain.safetensors";
  EXPECT_EQ(*Below("style/grain.safetensors"), real);
  EXPECT_EQ(*Below("style/../style/grain.safetensors"), real);
  Link("style/grain.safetensors", "link");
  EXPECT_EQ(*Below("link"), real);
}

TEST_F(AdapterPaths, DoNotLeadOutOfTheRoot) {
  Link("../secret", "out");
  Link(folder_.path() + "/secret", "absolute");
  Link("..", "up");
  for (const std::string& file :
       {std::string("../secret"), std::string("out"), std::string("absolute"),
        std::string("up/secret"), folder_.path() + "/secret", std::string("style/../../secret")}) {
    const auto path = Below(file);
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument) << file << path.status();
    EXPECT_THAT(std::string(path.status().message()), HasSubstr("leads out")) << file;
  }
}

TEST_F(AdapterPaths, AreThoseOfFiles) {
  EXPECT_EQ(Below("none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Below("style").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PathBelow(folder_.path() + "/none", "x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(AdapterPaths, OfAConfigurationAreResolvedTogether) {
  config::v1::ServerConfig config;
  config.set_adapter_root(Root());
  config.add_adapters()->set_file("style/grain.safetensors");
  config.add_adapters()->set_file("none");
  EXPECT_THAT(ResolveAdapters(config),
              ElementsAre(AllOf(StartsWith("adapters[1].file:"), HasSubstr("'none'"))));
  EXPECT_EQ(config.adapters(0).file(), *Below("style/grain.safetensors"));
}

}  // namespace
}  // namespace reel::front
