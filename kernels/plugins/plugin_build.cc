// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_build.h"

#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "kernels/plugins/plugin_elf.h"
#include "kernels/plugins/plugin_files.h"

namespace reel::kernels {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxVariants = 256;

absl::StatusOr<PluginMetadata> ReadMetadata(const fs::path& folder, const PluginSource& source) {
  REEL_ASSIGN_OR_RETURN(const std::string text,
                        ReadPluginFile(folder / "metadata.json", kMaxPluginMetadataBytes));
  if (!source.sha256.empty()) {
    const std::string found = Sha256Hex(text);
    if (found != source.sha256) {
      return absl::DataLossError(
          absl::StrCat("metadata.json is not the one that the configuration pins: its SHA-256 is ",
                       found, ", pinned is ", source.sha256));
    }
  }
  return ParsePluginMetadata(text);
}

// A torch build's one *.abi3.so, or a native one's one *.so.
absl::StatusOr<std::string> LibraryOf(const PluginBuild& build, const fs::path& folder) {
  const bool native = build.variant.kind == BuildVariant::Kind::kNative;
  const std::string ending = native ? ".so" : ".abi3.so";
  std::string library;
  for (const auto& [name, digest] : build.metadata.files) {
    if (!absl::EndsWith(name, ending)) continue;
    if (!library.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("The build has more than one library *", ending, ": ", library, ", ", name));
    }
    library = name;
  }
  if (!library.empty()) return fs::canonical(folder / library).string();
  return absl::InvalidArgumentError(
      absl::StrCat("The build has no library *", ending, ": ", build.variant.folder));
}

absl::Status CheckArchs(const PluginBuild& build, const PluginHost& host) {
  if (build.variant.cuda != (build.metadata.backend == "cuda")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metadata.json is of another backend than its folder: ", build.metadata.backend, " in ",
        build.variant.folder));
  }
  if (!build.variant.cuda || CoversCapability(build.metadata.archs, host.sm)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat("The build has no code for this device: sm_",
                                                    host.sm, ", in ", build.variant.folder, " for ",
                                                    absl::StrJoin(build.metadata.archs, ", ")));
}

}  // namespace

absl::StatusOr<PluginBuild> FindPluginBuild(const PluginSource& source, const PluginHost& host) {
  REEL_ASSIGN_OR_RETURN(fs::path folder, ResolveBelow(source.root, source.folder));
  const fs::path root = fs::canonical(source.root);
  std::error_code ignored;
  if (fs::is_directory(folder / "build", ignored)) {
    REEL_ASSIGN_OR_RETURN(folder, ResolveBelow(source.root, source.folder + "/build"));
  }
  const std::vector<std::string> names = FoldersIn(folder, kMaxVariants);
  if (names.empty()) {
    return absl::NotFoundError(
        absl::StrCat("The plug-in's folder holds no builds: '", source.folder, "'"));
  }
  BuildChoice choice = ChooseBuilds(names, host);
  if (choice.fitting.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("No build of the plug-in fits this worker: ", choice.trace));
  }
  PluginBuild build{
      .source = source, .variant = choice.fitting.front(), .metadata = {}, .library = ""};
  const fs::path chosen = folder / build.variant.folder;
  REEL_RETURN_IF_ERROR(
      ResolveBelow(root.string(), chosen.lexically_relative(root).string()).status());
  REEL_ASSIGN_OR_RETURN(build.metadata, ReadMetadata(chosen, source));
  REEL_RETURN_IF_ERROR(CheckArchs(build, host));
  REEL_RETURN_IF_ERROR(CheckDigests(root, chosen, build.metadata.files));
  REEL_ASSIGN_OR_RETURN(build.library, LibraryOf(build, chosen));
  REEL_RETURN_IF_ERROR(CheckPluginElf(build.library));
  return build;
}

}  // namespace reel::kernels
