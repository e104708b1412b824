// SPDX-License-Identifier: Apache-2.0
// The program reel-render for a test, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/temp_folder.h"
#include "tests/integration/program.h"

namespace reel::render {

class RenderProgram : public ::testing::Test {
 protected:
  static tests::ProgramResult RunWith(std::vector<std::string> arguments) {
    return tests::RunProgram(tests::BinaryPath("reel-render"), std::move(arguments));
  }
  tests::ProgramResult Run(std::vector<std::string> arguments, const std::string& output) const {
    const std::vector<std::string> small = {"--prompt", "a fox", "--width",  "64",
                                            "--height", "64",    "--steps",  "3",
                                            "--seed",   "7",     "--output", folder_.File(output)};
    const bool says = std::find(arguments.begin(), arguments.end(), "--model") != arguments.end();
    if (!says) arguments.insert(arguments.end(), {"--model", "testcard"});
    arguments.insert(arguments.begin(), small.begin(), small.end());
    return RunWith(std::move(arguments));
  }
  reel::testing::TempFolder folder_;
};

}  // namespace reel::render
