// SPDX-License-Identifier: Apache-2.0
#include "server/front/adapter_registry.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/adapter_file.h"
#include "model/weights/manifest.h"

namespace reel::front {
namespace {

// Whether requests may name it: one of its models has room.
bool IsOffered(const config::v1::Adapter& adapter, const config::v1::ServerConfig& config) {
  const std::set<std::string> models = {adapter.models().begin(), adapter.models().end()};
  for (const config::v1::Model& model : config.models()) {
    if (model.adapter_ranks() > 0 && (models.empty() || models.contains(model.name()))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<RegisteredAdapter>> AdapterRegistry::Read(
    const config::v1::ServerConfig& config) {
  std::vector<RegisteredAdapter> registered;
  for (const config::v1::Adapter& adapter : config.adapters()) {
    if (!IsOffered(adapter, config)) continue;
    absl::StatusOr<model::AdapterOffer> offer = ReadFile(adapter.file());
    const auto refuse = [&](absl::string_view why) {
      return absl::FailedPreconditionError(absl::StrCat("adapters: '", adapter.name(), "': ", why));
    };
    if (!offer.ok()) return refuse(offer.status().message());
    if (!adapter.sha256().empty() && adapter.sha256() != offer->sha256) {
      return refuse(absl::StrCat("its SHA-256 is ", offer->sha256, ", not ", adapter.sha256()));
    }
    offer->name = adapter.name();
    offer->max_scale = adapter.max_scale();
    offer->tenants = {adapter.tenants().begin(), adapter.tenants().end()};
    registered.push_back({*std::move(offer), {adapter.models().begin(), adapter.models().end()}});
  }
  return registered;
}

absl::StatusOr<model::AdapterOffer> AdapterRegistry::ReadFile(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return absl::NotFoundError(strerror(errno));
  const Mark mark = {info.st_dev, info.st_ino, info.st_size,
                     info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
  const auto known = known_.find(path);
  if (known != known_.end() && known->second.mark == mark) return known->second.offer;
  REEL_ASSIGN_OR_RETURN(const model::AdapterFile file, model::AdapterFile::Open(path));
  const model::AdapterOffer offer = {.name = "",
                                     .sha256 = model::SumOf(file.file().mapped()),
                                     .path = path,
                                     .rank = file.rank(),
                                     .bytes = mark.bytes};
  known_[path] = {mark, offer};
  return offer;
}

}  // namespace reel::front
