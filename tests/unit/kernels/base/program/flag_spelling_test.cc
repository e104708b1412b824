// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/flag_spelling.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

using Arguments = std::vector<std::string>;

TEST(WithFlagsSpelt, TakesBothSpellingsOfAFlag) {
  EXPECT_EQ(WithFlagsSpelt('-', {"generate", "--negative_prompt", "a_b", "--token_file=my_file"}),
            (Arguments{"generate", "--negative-prompt", "a_b", "--token-file=my_file"}));
  EXPECT_EQ(WithFlagsSpelt('_', {"--data-dir=my-folder", "--parent-pid", "-7", "--log_level=x-y"}),
            (Arguments{"--data_dir=my-folder", "--parent_pid", "-7", "--log_level=x-y"}));
}

TEST(WithFlagsSpelt, LeavesValuesAlone) {
  EXPECT_EQ(WithFlagsSpelt('-', {"a_b", "-o", "out_1.mp4", "--", "--not_a_flag"}),
            (Arguments{"a_b", "-o", "out_1.mp4", "--", "--not_a_flag"}));
  EXPECT_EQ(WithFlagsSpelt('_', {"a-b", "-o", "out-1.mp4", "--", "--not-a-flag"}),
            (Arguments{"a-b", "-o", "out-1.mp4", "--", "--not-a-flag"}));
  EXPECT_EQ(WithFlagsSpelt('-', {"--a prompt_with blanks"}), (Arguments{"--a prompt_with blanks"}));
}

}  // namespace
}  // namespace reel
