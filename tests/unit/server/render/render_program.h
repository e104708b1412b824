// SPDX-License-Identifier: Apache-2.0
// Runs the program reel-render for a test, in a folder of the test's own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/server/render/scratch_folder.h"

namespace reel::server {

class RenderProgram : public ::testing::Test {
 protected:
  pid_t Start(const std::vector<std::string>& arguments) {
    const char* folder = std::getenv("REEL_BIN");
    const std::string program = std::string(folder == nullptr ? "." : folder) + "/reel-render";
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, folder_.File("stdout").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, folder_.File("stderr").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  static int Wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int Run(std::vector<std::string> arguments, const std::string& output) {
    const std::vector<std::string> small = {"--prompt", "a fox", "--width",  "64",
                                            "--height", "64",    "--steps",  "3",
                                            "--seed",   "7",     "--output", folder_.File(output)};
    arguments.insert(arguments.begin(), small.begin(), small.end());
    return Wait(Start(arguments));
  }
  ScratchFolder folder_;
};

}  // namespace reel::server
