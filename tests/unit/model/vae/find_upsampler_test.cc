// SPDX-License-Identifier: Apache-2.0
// The places where an upsampler is looked for. The tests of the families' two passes load it from
// there.
#include "model/vae/find_upsampler.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOf(const LoadOptions& options) {
  std::vector<std::string> names;
  for (const ListedFile& file : UpsamplerFiles(options)) names.push_back(file.name);
  return names;
}

TEST(FindUpsampler, LeavesAModelWithoutOneAsItIs) {
  const testing::TempFolder folder;
  LoadOptions options;
  options.path = folder.path();
  const auto found = FindUpsampler(options, ReadUpsamplerConfig, 8, at::kFloat, at::kCPU);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->has_value());
  EXPECT_THAT(NamesOf(options), IsEmpty());
}

TEST(FindUpsampler, ListsTheFileBesideAFolderAndBesideASingleFile) {
  const testing::TempFolder folder;
  folder.Write("latent_upsampler.safetensors", "");
  folder.Write("model.safetensors", "");
  LoadOptions options;
  options.path = folder.path();
  EXPECT_THAT(NamesOf(options), ElementsAre("latent_upsampler.safetensors"));
  options.path = folder.File("model.safetensors");
  EXPECT_THAT(NamesOf(options), ElementsAre("latent_upsampler.safetensors"));
}

}  // namespace
}  // namespace reel::model
