// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/plugins/kernel_repository.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"

namespace reel::testing {
namespace {

std::string Digest(const std::string& bytes) {
  const Sha256Digest digest = Sha256Of(bytes);
  return absl::Base64Escape(std::string(digest.begin(), digest.end()));
}

}  // namespace

std::string TestPlugin(const std::string& name) {
  return absl::StrCat(std::getenv("REEL_BIN"), "/../plugins/", name, ".so");
}

std::string TestPluginBytes(const std::string& name) {
  std::ifstream in(TestPlugin(name), std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

void KernelRepository::AddPlugin(const std::string& plugin, const std::string& folder,
                                 const std::string& id) {
  BuildToPack build;
  build.id = id.empty() ? plugin : id;
  build.files = {{build.id + ".so", TestPluginBytes(plugin)}};
  Add(build, folder);
}

void KernelRepository::Add(const BuildToPack& build, const std::string& folder) {
  const std::string path = absl::StrCat(root(), "/", folder, "/build/", build.variant);
  std::filesystem::create_directories(path);
  std::string files;
  for (const auto& [name, contents] : build.files) {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name, std::ios::binary) << contents;
    absl::StrAppend(&files, files.empty() ? "" : ", ", "\"", name, "\": \"", Digest(contents),
                    "\"");
  }
  std::ofstream(path + "/metadata.json") << absl::StrCat(
      R"({"id": ")", build.id, R"(", "name": "example", "version": 1, "backend": )", build.backend,
      R"(, "digest": {"algorithm": "sha256", "files": {)", files, "}}}\n");
}

kernels::PluginSource KernelRepository::Source(const std::string& name,
                                               const std::string& folder) const {
  return {.name = name, .root = root(), .folder = folder, .sha256 = ""};
}

std::string KernelRepository::File(const std::string& name, const std::string& folder) const {
  return absl::StrCat(root(), "/", folder, "/build/reel1-cpu-x86_64-linux/", name);
}

}  // namespace reel::testing
