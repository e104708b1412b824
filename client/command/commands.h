// SPDX-License-Identifier: Apache-2.0
// The commands of `reel`, one function each: it adds the command's flags to `app`, and sets
// `action` when the command line chooses it.
#pragma once

#include "client/command/session.h"
#include <CLI/App.hpp>

namespace reel::client {

// generate_command.cc
void AddGenerate(CLI::App& app, Action& action);
void AddPromote(CLI::App& app, Action& action);
void AddAgain(CLI::App& app, Action& action);
void AddExtend(CLI::App& app, Action& action);
void AddRetake(CLI::App& app, Action& action);
void AddRefine(CLI::App& app, Action& action);
// stored_video_commands.cc: following and fetching what exists
void AddWatch(CLI::App& app, Action& action);
void AddDownload(CLI::App& app, Action& action);
// job_commands.cc
void AddCreate(CLI::App& app, Action& action);
void AddEstimate(CLI::App& app, Action& action);
void AddCancel(CLI::App& app, Action& action);
void AddDelete(CLI::App& app, Action& action);
// listing_commands.cc
void AddList(CLI::App& app, Action& action);
void AddGet(CLI::App& app, Action& action);
// server_commands.cc
void AddInfo(CLI::App& app, Action& action);
void AddModels(CLI::App& app, Action& action);
void AddKernels(CLI::App& app, Action& action);
void AddExperiments(CLI::App& app, Action& action);
void AddRestore(CLI::App& app, Action& action);
void AddLoad(CLI::App& app, Action& action);
void AddUnload(CLI::App& app, Action& action);
// open_command.cc
void AddOpen(CLI::App& app, Action& action);
// compare_command.cc
void AddCompare(CLI::App& app, Action& action);
// ab_command.cc
void AddAb(CLI::App& app, Action& action);
// bench_command.cc
void AddBench(CLI::App& app, Action& action);
// top_command.cc
void AddTop(CLI::App& app, Action& action);
// fleet_command.cc
void AddFleet(CLI::App& app, Action& action);
// doctor_command.cc
void AddDoctor(CLI::App& app, Action& action);
// shell_commands.cc; they read all commands of `app` when they run
void AddCompletion(CLI::App& app, Action& action);
void AddMan(CLI::App& app, Action& action);

}  // namespace reel::client
