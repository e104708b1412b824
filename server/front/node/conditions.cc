// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/conditions.h"

#include <cstddef>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/object_keys.h"

namespace reel::front {
namespace {

// What the pool's threads need.
struct ConditionPlace {
  ObjectStore& store;
  const NodeOptions& options;
  const std::string& tenant;

  std::vector<std::string> KeysOf(const model::Condition& condition) const {
    return ConditionKeys(options.seal, options.fleet, tenant, condition.sha256);
  }
};

// A file uploaded before the request is stored already.
absl::Status CheckFile(const ConditionPlace& place, const Conditions::List& conditions,
                       size_t index) {
  const model::Condition& condition = conditions[index];
  for (const std::string& key : place.KeysOf(condition)) {
    const absl::Status found = place.store.Head(key).status();
    if (!absl::IsNotFound(found)) return found;
  }
  return NoSuchFile(condition.file, index);
}

absl::Status KeepAll(const ConditionPlace& place, const Conditions::List& conditions) {
  for (size_t i = 0; i < conditions.size(); ++i) {
    const model::Condition& condition = conditions[i];
    if (!condition.file.empty()) {
      REEL_RETURN_IF_ERROR(CheckFile(place, conditions, i));
      continue;
    }
    const std::string key = place.KeysOf(condition).front();
    const absl::Status put = place.store.PutBytes(
        key, place.options.seal.Close(condition.bytes ? *condition.bytes : std::string(), key),
        condition.content_type);
    if (!put.ok()) return put;
  }
  return absl::OkStatus();
}

bool IsNotThere(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsOutOfRange(status);
}

// The server that took the request may have another sealing key, or none.
absl::StatusOr<std::string> FetchOne(const ConditionPlace& place,
                                     const model::Condition& condition) {
  for (const std::string& key : place.KeysOf(condition)) {
    auto bytes = place.store.Get(key, 0, condition.size_bytes + Seal::kOverhead);
    if (IsNotThere(bytes.status())) continue;
    if (!bytes.ok()) return bytes;
    // Moves plain bytes, since they may be large.
    auto opened = Seal::IsSealed(*bytes) ? place.options.seal.Open(*bytes, key) : std::move(bytes);
    if (opened.ok() && Sha256Hex(*opened) == condition.sha256) return opened;
    return absl::DataLossError("the object store has other bytes than the request came with");
  }
  return absl::DataLossError("the object store has lost what the request came with");
}

absl::StatusOr<std::vector<Conditions::Blob>> FetchAll(const ConditionPlace& place,
                                                       const Conditions::List& conditions) {
  std::vector<Conditions::Blob> blobs;
  for (const model::Condition& condition : conditions) {
    REEL_ASSIGN_OR_RETURN(std::string bytes, FetchOne(place, condition));
    blobs.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  return blobs;
}

absl::Status TooMany() {
  return absl::UnavailableError("too many calls wait for the object store");
}

}  // namespace

void Conditions::Keep(const std::string& tenant, const List& conditions,
                      absl::AnyInvocable<void(absl::Status)> done) {
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  auto kept = thread_.Here<absl::Status>([this, shared](const absl::Status& status) {
    // An error with a reason is about the request, not the store.
    if (!ReasonOf(status)) state_.Note(status);
    (*shared)(status);
  });
  const bool taken = pool_->Put(
      [store = store_.objects, &options = options_, tenant, conditions,
       kept = std::move(kept)]() mutable { kept(KeepAll({*store, options, tenant}, conditions)); });
  if (!taken) (*shared)(TooMany());
}

void Conditions::Fetch(const std::string& tenant, const List& conditions,
                       absl::AnyInvocable<void(absl::StatusOr<std::vector<Blob>>)> done) {
  using Blobs = absl::StatusOr<std::vector<Blob>>;
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  auto fetched = thread_.Here<Blobs>([this, shared](Blobs blobs) {
    state_.Note(blobs.status());
    (*shared)(std::move(blobs));
  });
  const bool taken = pool_->Put([store = store_.objects, &options = options_, tenant, conditions,
                                 fetched = std::move(fetched)]() mutable {
    fetched(FetchAll({*store, options, tenant}, conditions));
  });
  if (!taken) (*shared)(TooMany());
}

}  // namespace reel::front
