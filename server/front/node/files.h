// SPDX-License-Identifier: Apache-2.0
// Files that callers upload before the requests that name them. They arrive in pieces, are stored
// for a day like conditions, and are found by their hash.
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

// All uploaded files at the last listing of the store.
struct FileUse {
  std::map<std::string, int64_t> bytes;  // by tenant
  std::set<std::string> conditions;      // keys of the objects with their bytes
  std::vector<std::string> expired;      // keys of the markers that have expired
};

// Confined to the node's thread, which also runs the callbacks, except for those of an upload.
// Arguments outlive it; the pools stop before it.
class Files {
 public:
  // `counted` is called after use() has changed.
  Files(NodeState& state, const NodePorts& ports, ObjectStore* objects, const NodePools& pools,
        StoreState& store_state, std::function<void()> counted);

  // Admits an upload, or fails with INVALID_REQUEST, TENANT_QUOTA, STORE_FULL or QUEUE_FULL.
  void Begin(const std::string& tenant, int64_t size, Answer<std::unique_ptr<FileUpload>> done);
  // Fills in the size and type of the files that a request names. `files` says why one cannot be
  // used: FILE_NOT_FOUND, or INVALID_SPEC if the request describes it differently.
  using Described = absl::AnyInvocable<void(NewJob job, absl::Status files)>;
  void Describe(NewJob job, Described done);

  // Lists the store's files.
  void Look(absl::AnyInvocable<void(absl::Status)> done);
  // As of the last listing.
  const FileUse& use() const { return use_; }
  // Called every second. Lists the store after an upload here, and now and then for uploads at
  // other nodes.
  void Tick(absl::Duration now);

 private:
  class Upload;
  // A slot for one file that is being uploaded.
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
  // Counts the upload while the returned object lives; a stored file counts until use() includes
  // it.
  std::shared_ptr<Place> PlaceFor(const std::string& tenant, int64_t size);
  int64_t ComingBytes(const std::string& tenant) const;

  void Leave(const std::string& tenant, int64_t size, bool stored);
  using Sizes = std::vector<std::pair<std::string, int64_t>>;  // tenant and file size
  void Settle(const Sizes& sizes);

  // One tenant's uploads in progress.
  struct Coming {
    int count = 0;
    int64_t bytes = 0;  // including uploads that finished since the last listing
  };

  NodeState& state_;
  const NodePorts& ports_;
  ObjectStore* const objects_;  // null without a store
  const NodePools& pools_;
  StoreState& store_state_;
  const std::function<void()> counted_;
  const absl::Status spool_;  // OK if the spool folder can be used
  std::map<std::string, Coming> coming_;
  int num_coming_ = 0;
  Sizes come_;  // since the last listing
  int64_t last_number_ = 0;
  FileUse use_;
  bool looking_ = false;
  absl::Duration looked_ = -absl::InfiniteDuration();
};

}  // namespace reel::front
