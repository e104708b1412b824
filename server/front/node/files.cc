// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/files.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/object_keys.h"
#include "server/front/store/file_spool.h"

namespace reel::front {
namespace {

constexpr int kMostComing = 64, kMostComingOfTenant = 16;
constexpr absl::Duration kBetweenFileLooks = absl::Minutes(1);
// Kept beyond the expiry that callers see, for requests in flight.
constexpr absl::Duration kGrace = absl::Hours(1);

absl::Status Busy() {
  return MakeError(Reason::kQueueFull, "Too many files are on their way in",
                   {.retry_after = absl::Seconds(1)});
}

absl::Status TooManyOfTenant(const std::string& tenant, int count) {
  return MakeOverQuota(Reason::kTenantQuota, "tenant:" + tenant,
                       "The tenant has too many files on their way in",
                       {count, kMostComingOfTenant}, absl::Seconds(1));
}

// Turns a store's error into what callers see.
absl::Status StoreError(const absl::Status& status, bool alone) {
  if (status.ok() || ReasonOf(status)) return status;
  return alone ? NotWritten(status) : FleetUnavailable("The fleet's store does not take files");
}

// What the pools' threads need.
struct FileShelf {
  ObjectStore& store;
  const NodeOptions& options;
  const std::string tenant;

  absl::Status Put(const FileSpool& spool, const FileSpool::Whole& whole, int64_t hour) const;
  absl::StatusOr<FilePlace> Find(const std::string& sha256, absl::Time now) const;
};

absl::Status FileShelf::Put(const FileSpool& spool, const FileSpool::Whole& whole,
                            int64_t hour) const {
  const std::string key = ConditionKeys(options.seal, options.fleet, tenant, whole.sha256).front();
  // Writes the marker first, so that the janitor does not delete older, equal bytes.
  const FilePlace place{tenant, key.substr(key.rfind('/') + 1), hour, spool.size(),
                        whole.content_type};
  REEL_RETURN_IF_ERROR(store.PutBytes(FileKey(options.fleet, place), "1", "text/plain"));
  if (!options.seal.enabled()) {
    return store.PutFile(key, {spool.path(), spool.size(), whole.sha256, whole.content_type});
  }
  REEL_ASSIGN_OR_RETURN(std::string bytes, spool.Read());
  std::string sealed = options.seal.Close(bytes, key);
  bytes = std::string();
  return store.PutBytes(key, sealed, whole.content_type);
}

// Finds the upload that expires last. The server that took it may have used another sealing key, or
// none.
absl::StatusOr<FilePlace> FileShelf::Find(const std::string& sha256, absl::Time now) const {
  std::optional<FilePlace> found;
  for (const std::string& key : ConditionKeys(options.seal, options.fleet, tenant, sha256)) {
    const std::string prefix =
        absl::StrCat(FilePrefix(options.fleet), tenant, "/", key.substr(key.rfind('/') + 1), "/");
    REEL_ASSIGN_OR_RETURN(const ObjectPage page, store.List(prefix, ""));
    for (const ObjectEntry& entry : page.objects) {
      const std::optional<FilePlace> place = ReadFileKey(options.fleet, entry.key);
      if (place && (!found || place->hour > found->hour)) found = place;
    }
  }
  if (found && found->expire_time() > now) return *found;
  return absl::NotFoundError("no such file");
}

absl::StatusOr<FileUse> LookThrough(ObjectStore& store, const NodeOptions& options,
                                    absl::Time now) {
  FileUse use;
  const std::string prefix = FilePrefix(options.fleet);
  for (std::string after;;) {
    REEL_ASSIGN_OR_RETURN(const ObjectPage page, store.List(prefix, after));
    for (const ObjectEntry& entry : page.objects) {
      after = entry.key;
      const std::optional<FilePlace> place = ReadFileKey(options.fleet, entry.key);
      if (!place) continue;
      if (place->expire_time() + kGrace <= now) {
        use.expired.push_back(entry.key);
      } else if (use.conditions.insert(ConditionKey(options.fleet, place->tenant, place->name))
                     .second) {
        use.bytes[place->tenant] += place->size_bytes;
      }
    }
    if (!page.more || page.objects.empty()) return use;
  }
}

// An MP4 may be named for its sound.
void TakeDescription(const FilePlace& place, model::Condition& condition) {
  using Kind = model::Condition::Kind;
  const bool is_mp4 = place.content_type == "video/mp4";
  const bool for_sound = is_mp4 && condition.content_type == "audio/mp4";
  condition.content_type = for_sound ? "audio/mp4" : place.content_type;
  condition.kind = is_mp4 && !for_sound                           ? Kind::kVideo
                   : condition.content_type.starts_with("audio/") ? Kind::kAudio
                                                                  : Kind::kImage;
  condition.size_bytes = place.size_bytes;
  condition.sha256 = condition.file.substr(kFileNamePrefix.size());
}

template <typename Value>
void Compare(const std::string& field, const Value& sent, const Value& is,
             std::vector<model::FieldViolation>& out) {
  if (sent == Value() || sent == is) return;
  out.push_back({field, absl::StrCat("does not describe this file; leave it out, or send: ", is)});
}

absl::Status DescribeAll(const FileShelf& shelf, absl::Time now, model::GenerationSpec& spec) {
  std::vector<model::FieldViolation> violations;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    model::Condition& condition = spec.conditions[i];
    if (condition.file.empty()) continue;
    auto place = shelf.Find(condition.file.substr(kFileNamePrefix.size()), now);
    if (absl::IsNotFound(place.status())) return NoSuchFile(condition.file, i);
    REEL_RETURN_IF_ERROR(place.status());
    const model::Condition sent = condition;
    TakeDescription(*place, condition);
    const std::string at = absl::StrCat("spec.conditions[", i, "].");
    Compare(at + "content_type", sent.content_type, condition.content_type, violations);
    Compare(at + "size_bytes", sent.size_bytes, condition.size_bytes, violations);
    Compare(at + "sha256", sent.sha256, condition.sha256, violations);
  }
  if (violations.empty()) return absl::OkStatus();
  return MakeInvalid(Reason::kInvalidSpec, violations);
}

}  // namespace

// One upload in progress: its bytes go to a spool file, and at the end into the store.
class Files::Upload final : public FileUpload {
 public:
  struct Parts {
    ObjectStore& store;
    const NodeOptions& options;
    std::string tenant;
    TaskPool& spool_pool;
    TaskPool& store_pool;
    StoreState& store_state;
    const Clock& clock;
    std::shared_ptr<Place> place;
  };
  Upload(std::shared_ptr<FileSpool> spool, Parts parts)
      : spool_(std::move(spool)), parts_(std::make_shared<const Parts>(std::move(parts))) {}

  void Append(std::string bytes, absl::AnyInvocable<void(absl::Status)> done) override {
    auto shared = std::make_shared<decltype(done)>(std::move(done));
    const bool taken =
        parts_->spool_pool.Put([spool = spool_, bytes = std::move(bytes), shared]() mutable {
          absl::Status written = spool->Append(bytes);
          bytes = std::string();
          (*shared)(std::move(written));
        });
    if (!taken) (*shared)(Busy());
  }

  void Finish(std::string sha256,
              absl::AnyInvocable<void(absl::StatusOr<UploadedFile>)> done) override {
    auto shared = std::make_shared<decltype(done)>(std::move(done));
    const bool taken =
        parts_->store_pool.Put([spool = spool_, parts = parts_, sha256 = std::move(sha256),
                                shared] { (*shared)(Store(*spool, *parts, sha256)); });
    if (!taken) (*shared)(Busy());
  }

 private:
  static absl::StatusOr<UploadedFile> Store(FileSpool& spool, const Parts& parts,
                                            const std::string& sha256) {
    REEL_ASSIGN_OR_RETURN(const FileSpool::Whole whole, spool.Finish(sha256));
    const int64_t hour = absl::ToUnixSeconds(parts.clock.Wall()) / 3600;
    const absl::Status put =
        FileShelf{parts.store, parts.options, parts.tenant}.Put(spool, whole, hour);
    // A lone server's full disk must not stop the listing, which removes expired files.
    if (put.ok() || !parts.options.alone) parts.store_state.Note(put);
    REEL_RETURN_IF_ERROR(StoreError(put, parts.options.alone));
    parts.place->stored = true;
    FilePlace place;
    place.hour = hour;
    return UploadedFile{std::string(kFileNamePrefix) + whole.sha256, spool.size(),
                        whole.content_type, place.expire_time()};
  }

  const std::shared_ptr<FileSpool> spool_;
  const std::shared_ptr<const Parts> parts_;
};

Files::Files(NodeState& state, const NodePorts& ports, ObjectStore* objects, const NodePools& pools,
             StoreState& store_state, std::function<void()> counted)
    : state_(state),
      ports_(ports),
      objects_(objects),
      pools_(pools),
      store_state_(store_state),
      counted_(std::move(counted)),
      spool_(state.options.uploads_folder.empty()
                 ? absl::FailedPreconditionError("there is no folder for files")
                 : ClearSpool(state.options.uploads_folder)) {}

absl::Status Files::Takes(const std::string& tenant, int64_t size) const {
  if (objects_ == nullptr) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{"size_bytes", "a fleet without an object store takes no files"}});
  }
  const int64_t most = state_.options.max_file_bytes;
  if (size < 1 || size > most) {
    return MakeInvalid(
        Reason::kInvalidRequest,
        {{"size_bytes", absl::StrCat("must be 1 to ", most, ", the limit of a file: ", size,
                                     "; the nearest is ", size < 1 ? 1 : most)}});
  }
  if (!spool_.ok()) return MakeError(Reason::kInternal, "There is no folder for files");
  if (num_coming_ >= kMostComing) return Busy();
  const auto coming = coming_.find(tenant);
  const int count = coming == coming_.end() ? 0 : coming->second.count;
  if (count >= kMostComingOfTenant) return TooManyOfTenant(tenant, count);
  return absl::OkStatus();
}

std::shared_ptr<Files::Place> Files::PlaceFor(const std::string& tenant, int64_t size) {
  Coming& coming = coming_[tenant];
  ++coming.count;
  ++num_coming_;
  coming.bytes += size;
  return std::make_shared<Place>(
      ports_.thread.Here<bool>([this, tenant, size](bool stored) { Leave(tenant, size, stored); }));
}

void Files::Leave(const std::string& tenant, int64_t size, bool stored) {
  --coming_[tenant].count;
  --num_coming_;
  if (!stored) return Settle({{tenant, size}});
  come_.emplace_back(tenant, size);
  looked_ = -absl::InfiniteDuration();
}

void Files::Settle(const Sizes& sizes) {
  for (const auto& [tenant, size] : sizes) {
    Coming& coming = coming_[tenant];
    coming.bytes -= size;
    if (coming.count == 0 && coming.bytes == 0) coming_.erase(tenant);
  }
}

int64_t Files::ComingBytes(const std::string& tenant) const {
  const auto coming = coming_.find(tenant);
  return coming == coming_.end() ? 0 : coming->second.bytes;
}

void Files::Begin(const std::string& tenant, int64_t size,
                  Answer<std::unique_ptr<FileUpload>> done) {
  if (const absl::Status refused = Takes(tenant, size); !refused.ok()) return done(refused);
  std::shared_ptr<Place> place = PlaceFor(tenant, size);
  // Includes unfinished uploads, which use() does not count yet.
  ports_.jobs.CheckFile(
      tenant, ComingBytes(tenant),
      ports_.thread.Here<absl::Status>([this, tenant, size, place = std::move(place),
                                        done = std::move(done)](const absl::Status& room) mutable {
        if (!room.ok()) return done(room);
        Open(tenant, size, std::move(place), std::move(done));
      }));
}

void Files::Open(const std::string& tenant, int64_t size, std::shared_ptr<Place> place,
                 Answer<std::unique_ptr<FileUpload>> done) {
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  Upload::Parts parts{*objects_,       state_.options, tenant,       *pools_.spool,
                      *pools_.uploads, store_state_,   ports_.clock, std::move(place)};
  const bool taken =
      pools_.spool->Put([folder = state_.options.uploads_folder, number = ++last_number_, size,
                         parts = std::move(parts), shared]() mutable {
        auto spool = FileSpool::Open(folder, number, size);
        if (!spool.ok()) return (*shared)(spool.status());
        (*shared)(std::make_unique<Upload>(*std::move(spool), std::move(parts)));
      });
  if (!taken) (*shared)(Busy());
}

void Files::Describe(NewJob job, Described done) {
  // Submission refuses such a request.
  if (objects_ == nullptr) return done(std::move(job), absl::OkStatus());
  auto shared = std::make_shared<Described>(std::move(done));
  auto described = std::make_shared<NewJob>(std::move(job));
  auto found =
      ports_.thread.Here<absl::Status>([this, shared, described](const absl::Status& status) {
        store_state_.Note(ReasonOf(status) ? absl::OkStatus() : status);
        (*shared)(std::move(*described), StoreError(status, state_.options.alone));
      });
  FileShelf shelf{*objects_, state_.options, described->tenant};
  const bool taken = pools_.reads->Put(
      [shelf = std::move(shelf), now = ports_.clock.Wall(), described,
       found = std::move(found)]() mutable { found(DescribeAll(shelf, now, described->spec)); });
  if (!taken) (*shared)(std::move(*described), Busy());
}

void Files::Look(absl::AnyInvocable<void(absl::Status)> done) {
  auto shared = std::make_shared<decltype(done)>(std::move(done));
  looking_ = true;
  const Sizes come = std::exchange(come_, {});
  auto looked = ports_.thread.Here<absl::StatusOr<FileUse>>(
      [this, shared, come](absl::StatusOr<FileUse> use) {
        looking_ = false;
        store_state_.Note(use.status());
        const absl::Status status = use.status();
        if (use.ok()) use_ = *std::move(use);
        counted_();
        Settle(come);
        (*shared)(status);
      });
  const bool taken = pools_.reads->Put(
      [store = objects_, &options = state_.options, now = ports_.clock.Wall(),
       looked = std::move(looked)]() mutable { looked(LookThrough(*store, options, now)); });
  if (taken) return;
  looking_ = false;
  come_.insert(come_.end(), come.begin(), come.end());
  (*shared)(absl::UnavailableError("too many calls wait for the object store"));
}

void Files::Tick(absl::Duration now) {
  const bool may_look = state_.options.alone || store_state_.good();
  if (objects_ == nullptr || looking_ || !may_look || now - looked_ < kBetweenFileLooks) return;
  looked_ = now;
  Look([](const absl::Status&) {});
}

}  // namespace reel::front
