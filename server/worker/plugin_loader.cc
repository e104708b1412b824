// SPDX-License-Identifier: Apache-2.0
#include "server/worker/plugin_loader.h"

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "kernels/plugins/native_plugin.h"
#include "kernels/plugins/plugin_build.h"
#include "kernels/plugins/plugin_check.h"
#include "model/plugins.h"
#include "server/logging/log.h"

namespace reel::worker {
namespace {

using kernels::HostedVariant;
using kernels::PluginBuild;

constexpr size_t kMaxReason = 2048;

absl::StatusOr<kernels::PluginHost> HostOf(const kernels::KernelCatalog& catalog,
                                           kernels::DeviceStream stream) {
  kernels::PluginHost host = kernels::ThisHost();
  host.on_cuda = stream.device >= 0;
  host.sm = catalog.capability().sm;
  REEL_RETURN_IF_ERROR(model::DescribeTorch(stream, host));
  return host;
}

// Everything that a native plug-in claims must hold: its author knows Reel.
absl::Status CheckNativeVariant(const HostedVariant& variant, kernels::DeviceStream stream) {
  const kernels::HostedVariantFacts& facts = variant.facts();
  if (!kernels::TakesPlugins(facts.op)) {
    return absl::InvalidArgumentError(
        absl::StrCat("A plug-in cannot bring variants for this operator: ", facts.op,
                     "; these take them: ", kernels::OpsThatTakePlugins()));
  }
  REEL_ASSIGN_OR_RETURN(const auto memory, model::MakeCheckMemory(stream));
  const kernels::PluginVerdict verdict = kernels::CheckPluginVariant(variant, *memory, stream);
  if (verdict.failure.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("A variant of the plug-in fails its test: ", facts.op, "=", facts.variant, ": ",
                   verdict.failure.message()));
}

absl::StatusOr<model::TorchPlugin> OpenBuild(const PluginBuild& build,
                                             kernels::DeviceStream stream) {
  if (build.variant.kind != kernels::BuildVariant::Kind::kNative) {
    return model::OpenTorchPlugin(build, stream);
  }
  model::TorchPlugin opened;
  REEL_ASSIGN_OR_RETURN(opened.variants, kernels::OpenNativePlugin(build));
  return opened;
}

// For a message to the front: names of files and a linker's text may contain anything.
std::string Printable(absl::string_view text) {
  std::string out(text.substr(0, kMaxReason));
  for (char& c : out) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return out;
}

}  // namespace

absl::StatusOr<kernels::PluginListing> PluginLoader::Open(const kernels::PluginSource& source) {
  REEL_ASSIGN_OR_RETURN(const kernels::PluginHost host, HostOf(catalog_, stream_));
  REEL_ASSIGN_OR_RETURN(const PluginBuild build, kernels::FindPluginBuild(source, host));
  if (ids_.contains(build.metadata.id)) {
    return absl::AlreadyExistsError(
        absl::StrCat("Another plug-in is this build already: ", build.metadata.id));
  }
  if (probe_) REEL_RETURN_IF_ERROR(probe_(source));
  REEL_ASSIGN_OR_RETURN(const model::TorchPlugin opened, OpenBuild(build, stream_));
  // The size of its parameters is compared before its code sees any.
  kernels::KernelCatalog with = catalog_;
  for (const auto& variant : opened.variants) REEL_RETURN_IF_ERROR(with.AddPlugin(variant));
  if (build.variant.kind == kernels::BuildVariant::Kind::kNative) {
    for (const auto& variant : opened.variants)
      REEL_RETURN_IF_ERROR(CheckNativeVariant(*variant, stream_));
  }
  catalog_ = std::move(with);
  ids_.insert(build.metadata.id);
  return kernels::PluginListing{.name = source.name,
                                .loaded = true,
                                .reason = Printable(absl::StrJoin(opened.unused, "; ")),
                                .id = build.metadata.id};
}

std::vector<kernels::PluginListing> PluginLoader::OpenAll(
    const std::vector<kernels::PluginSource>& sources) {
  std::vector<kernels::PluginListing> listings;
  for (const kernels::PluginSource& source : sources) {
    auto opened = Open(source);
    if (opened.ok()) {
      Log(LogLevel::kInfo, "A plug-in is open",
          {{"plugin", source.name}, {"id", opened->id}, {"unused", opened->reason}});
      listings.push_back(*std::move(opened));
      continue;
    }
    Log(LogLevel::kError, "A plug-in is refused; the worker goes on without it",
        {{"plugin", source.name}, {"folder", source.folder}, {"error", opened.status()}});
    listings.push_back({.name = source.name,
                        .loaded = false,
                        .reason = Printable(opened.status().message()),
                        .id = ""});
  }
  return listings;
}

}  // namespace reel::worker
