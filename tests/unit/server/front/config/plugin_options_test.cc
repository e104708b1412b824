// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/plugin_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kHash(64, 'a');

TEST(PluginOptions, EachTravelsWithItsRoot) {
  const CheckedOptions checked = CheckText(
      absl::StrCat("plugin_root: '/srv/plugins' plugins { name: 'mine' folder: 'a/b' sha256: '",
                   kHash, "' } plugins { name: 'mine-2' folder: 'c' }"));
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_THAT(checked.options.plugins,
              ElementsAre(kernels::PluginSource{"mine", "/srv/plugins", "a/b", kHash},
                          kernels::PluginSource{"mine-2", "/srv/plugins", "c", ""}));
}

TEST(PluginOptions, ARootAloneIsLegal) {
  EXPECT_THAT(CheckText("plugin_root: '/srv/plugins'").problems, IsEmpty());
}

TEST(PluginOptions, PluginsNeedAnAbsoluteRoot) {
  EXPECT_THAT(CheckText("plugins { name: 'a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugin_root: must be set")));
  EXPECT_THAT(CheckText("plugin_root: 'p' plugins { name: 'a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugin_root: must be an absolute path")));
}

TEST(PluginOptions, NamesAreTheirOwn) {
  const std::string root = "plugin_root: '/p' ";
  for (const char* name : {"built-in", "framework", "Mine", "", "a/b"}) {
    EXPECT_THAT(
        CheckText(absl::StrCat(root, "plugins { name: '", name, "' folder: 'a' }")).problems,
        ElementsAre(StartsWith("plugins[0].name:")))
        << name;
  }
  const std::string longest(31, 'a');
  EXPECT_THAT(CheckText(root + "plugins { name: '" + longest + "' folder: 'a' }").problems,
              IsEmpty());
  EXPECT_THAT(CheckText(root + "plugins { name: '" + longest + "a' folder: 'a' }").problems,
              ElementsAre(StartsWith("plugins[0].name:")));
  EXPECT_THAT(
      CheckText(root + "plugins { name: 'a' folder: 'a' } plugins { name: 'a' folder: 'b' }")
          .problems,
      ElementsAre(StartsWith("plugins[1].name: is listed twice")));
}

TEST(PluginOptions, FoldersStayBelowTheRoot) {
  for (const char* folder : {"", "/etc", "../x", "a/../../x", "a/.."}) {
    EXPECT_THAT(
        CheckText(absl::StrCat("plugin_root: '/p' plugins { name: 'a' folder: '", folder, "' }"))
            .problems,
        ElementsAre(StartsWith("plugins[0].folder:")))
        << folder;
  }
}

TEST(PluginOptions, AHashIsWholeAndLowerCase) {
  for (const std::string& hash : {std::string("ab"), std::string(64, 'A'), std::string(65, 'a')}) {
    EXPECT_THAT(
        CheckText("plugin_root: '/p' plugins { name: 'a' folder: 'a' sha256: '" + hash + "' }")
            .problems,
        ElementsAre(StartsWith("plugins[0].sha256:")))
        << hash;
  }
}

TEST(PluginOptions, TheirNumberIsBounded) {
  std::string text = "plugin_root: '/p' ";
  for (int i = 0; i < 17; ++i) {
    absl::StrAppend(&text, "plugins { name: 'p", i, "' folder: 'a' } ");
  }
  EXPECT_THAT(CheckText(text).problems, ElementsAre("plugins: must be at most 16: 17"));
}

}  // namespace
}  // namespace reel::front
