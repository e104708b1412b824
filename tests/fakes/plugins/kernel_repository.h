// SPDX-License-Identifier: Apache-2.0
// A kernel repository on disk for a test, written as deploy/kernels/pack writes it, with anything
// wrong that a test wants wrong.
#pragma once

#include <map>
#include <string>

#include "kernels/dispatch/plugin_source.h"
#include "tests/fakes/temp_folder.h"

namespace reel::testing {

// The shared library of that name among the plug-ins of this build.
std::string TestPlugin(const std::string& name);
// And what is in it.
std::string TestPluginBytes(const std::string& name);

struct BuildToPack {
  std::string variant = "reel1-cpu-x86_64-linux";  // of this machine
  std::string id = "example";
  std::map<std::string, std::string> files;  // name in the build to contents
  std::string backend = R"({"type": "cpu"})";
};

class KernelRepository {
 public:
  // Adds a build with one library, of TestPlugin, as <id>.so, of a torch build <id>.abi3.so.
  void AddPlugin(const std::string& plugin, const std::string& folder = "repository",
                 const std::string& id = "");
  void Add(const BuildToPack& build, const std::string& folder = "repository");

  // The source of the plug-in in `folder`, called `name`.
  kernels::PluginSource Source(const std::string& name,
                               const std::string& folder = "repository") const;
  const std::string& root() const { return root_.path(); }
  // A file of a build of this machine.
  std::string File(const std::string& name, const std::string& folder = "repository") const;

 private:
  TempFolder root_;
};

}  // namespace reel::testing
