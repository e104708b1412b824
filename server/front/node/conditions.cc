// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/conditions.h"

#include <utility>

#include "kernels/base/digest/sha256.h"
#include "server/front/node/object_keys.h"

namespace reel::front {
namespace {

absl::Status KeepAll(ObjectStore& store, const std::string& fleet, const std::string& tenant,
                     const Conditions::List& conditions) {
  for (const model::Condition& condition : conditions) {
    const absl::Status put =
        store.PutBytes(ConditionKey(fleet, tenant, condition.sha256),
                       condition.bytes ? *condition.bytes : std::string(), condition.content_type);
    if (!put.ok()) return put;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Conditions::Blob>> FetchAll(ObjectStore& store, const std::string& fleet,
                                                       const std::string& tenant,
                                                       const Conditions::List& conditions) {
  std::vector<Conditions::Blob> blobs;
  for (const model::Condition& condition : conditions) {
    auto bytes = store.Get(ConditionKey(fleet, tenant, condition.sha256), 0, condition.size_bytes);
    if (absl::IsNotFound(bytes.status()) || absl::IsOutOfRange(bytes.status())) {
      return absl::DataLossError("the object store has lost what the request came with");
    }
    if (!bytes.ok()) return bytes.status();
    if (Sha256Hex(*bytes) != condition.sha256) {
      return absl::DataLossError("the object store has other bytes than the request came with");
    }
    blobs.push_back(std::make_shared<const std::string>(*std::move(bytes)));
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
  auto kept = parts_.thread.Here<absl::Status>([this, shared](const absl::Status& status) {
    parts_.state.Note(status);
    (*shared)(status);
  });
  const bool taken = parts_.pool->Put(
      [store = parts_.store.objects, fleet = parts_.options.fleet, tenant, conditions,
       kept = std::move(kept)]() mutable { kept(KeepAll(*store, fleet, tenant, conditions)); });
  if (!taken) (*shared)(TooMany());
}

void Conditions::Fetch(const std::string& tenant, const List& conditions,
                       absl::AnyInvocable<void(absl::StatusOr<std::vector<Blob>>)> done) {
  using Blobs = absl::StatusOr<std::vector<Blob>>;
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  auto fetched = parts_.thread.Here<Blobs>([this, shared](Blobs blobs) {
    parts_.state.Note(blobs.status());
    (*shared)(std::move(blobs));
  });
  const bool taken = parts_.pool->Put([store = parts_.store.objects, fleet = parts_.options.fleet,
                                       tenant, conditions, fetched = std::move(fetched)]() mutable {
    fetched(FetchAll(*store, fleet, tenant, conditions));
  });
  if (!taken) (*shared)(TooMany());
}

}  // namespace reel::front
