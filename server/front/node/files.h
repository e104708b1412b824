// SPDX-License-Identifier: Apache-2.0
// Files that callers upload before the requests that name them: received in pieces, kept in the
// store for a day as conditions are, and found by their hash.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/jobs/file_upload.h"
#include "server/front/jobs/job_service.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// All uploaded files, when the store was last listed.
struct FileUse {
  std::map<std::string, int64_t> bytes;  // by tenant
  std::set<std::string> conditions;      // keys of the objects with their bytes
  std::vector<std::string> expired;      // keys of the markers that have expired
};

// Confined to the node's thread, where answers come, too, but for those of an upload. What it is
// given outlives it, and what the pools run ends before it.
class Files {
 public:
  // `counted` is called when use() has changed.
  Files(NodeState& state, const NodePorts& ports, ObjectStore* objects, const NodePools& pools,
        StoreState& store_state, std::function<void()> counted);

  // INVALID_REQUEST, TENANT_QUOTA, STORE_FULL, QUEUE_FULL; else its bytes may come.
  void Begin(const std::string& tenant, int64_t size, Answer<std::unique_ptr<FileUpload>> done);
  // A request whose conditions say what the files that they name are. `files`: why not all of them
  // do: FILE_NOT_FOUND, INVALID_SPEC where the request describes a file otherwise.
  using Described = absl::AnyInvocable<void(NewJob job, absl::Status files)>;
  void Describe(NewJob job, Described done);

  // Looks through the store.
  void Look(absl::AnyInvocable<void(absl::Status)> done);
  // As of the last look.
  const FileUse& use() const { return use_; }
  // A second has passed: looks where a file was taken here, and now and then for those of others.
  void Tick(absl::Duration now);

 private:
  class Upload;
  // Of a file among those on their way in.
  struct Place {
    explicit Place(absl::AnyInvocable<void(bool)> on_leave) : leave(std::move(on_leave)) {}
    ~Place() { leave(stored); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    absl::AnyInvocable<void(bool)> leave;
    std::atomic<bool> stored = false;
  };
  absl::Status Takes(const std::string& tenant, int64_t size) const;
  void Open(const std::string& tenant, int64_t size, std::shared_ptr<Place> place,
            Answer<std::unique_ptr<FileUpload>> done);
  // Counts the upload while the returned object lives, and a stored file until use() has it.
  std::shared_ptr<Place> PlaceFor(const std::string& tenant, int64_t size);
  int64_t ComingBytes(const std::string& tenant) const;

  void Leave(const std::string& tenant, int64_t size, bool stored);
  using Sizes = std::vector<std::pair<std::string, int64_t>>;  // of files, with their tenants
  void Settle(const Sizes& sizes);

  // Of one tenant, on their way in.
  struct Coming {
    int count = 0;
    int64_t bytes = 0;  // and of those that have come since the last look
  };

  NodeState& state_;
  const NodePorts& ports_;
  ObjectStore* const objects_;  // null without a store
  const NodePools& pools_;
  StoreState& store_state_;
  const std::function<void()> counted_;
  const absl::Status spool_;  // whether there is a folder for it
  std::map<std::string, Coming> coming_;
  int num_coming_ = 0;
  Sizes come_;  // since the last look
  int64_t last_number_ = 0;
  FileUse use_;
  bool looking_ = false;
  absl::Duration looked_ = -absl::InfiniteDuration();
};

}  // namespace reel::front
