// SPDX-License-Identifier: Apache-2.0
// Files that are sent ahead of requests, in memory: a test sees what came whole and what was given
// up.
#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/mutex.h"
#include "server/errors/error.h"
#include "server/front/jobs/file_upload.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// Thread-safe; it outlives what it gives.
class FakeFiles {
 public:
  static constexpr int64_t kMostBytes = 8 << 20;

  // INVALID_REQUEST for other sizes than 1 to kMostBytes.
  absl::StatusOr<std::unique_ptr<FileUpload>> Begin(const std::string& tenant, int64_t size) {
    if (size < 1 || size > kMostBytes) return Refusal("size_bytes");
    MutexLock lock(mutex_);
    ++begun_;
    return std::make_unique<Upload>(*this, tenant, size);
  }
  // With their tenants.
  std::vector<std::pair<std::string, std::string>> whole() const {
    MutexLock lock(mutex_);
    return whole_;
  }
  int begun() const {
    MutexLock lock(mutex_);
    return begun_;
  }
  int given_up() const {
    MutexLock lock(mutex_);
    return given_up_;
  }

 private:
  static absl::Status Refusal(const std::string& field) {
    return MakeInvalid(Reason::kInvalidRequest, {{field, "is not the file's"}});
  }

  class Upload final : public FileUpload {
   public:
    Upload(FakeFiles& files, std::string tenant, int64_t size)
        : files_(files), tenant_(std::move(tenant)), size_(size) {}
    ~Upload() override {
      if (ended_) return;
      MutexLock lock(files_.mutex_);
      ++files_.given_up_;
    }
    void Append(std::string bytes, absl::AnyInvocable<void(absl::Status)> done) override {
      bytes_ += bytes;
      done(absl::OkStatus());
    }
    void Finish(std::string sha256,
                absl::AnyInvocable<void(absl::StatusOr<UploadedFile>)> done) override {
      if (!sha256.empty() && sha256 != Sha256Hex(bytes_)) return done(Refusal("sha256"));
      if (std::ssize(bytes_) != size_) return done(Refusal("size_bytes"));
      ended_ = true;
      UploadedFile file{"files/" + Sha256Hex(bytes_), size_, "video/mp4",
                        absl::FromUnixSeconds(1'700'000'000)};
      {
        MutexLock lock(files_.mutex_);
        files_.whole_.emplace_back(tenant_, std::move(bytes_));
      }
      done(std::move(file));
    }

   private:
    FakeFiles& files_;
    const std::string tenant_;
    const int64_t size_;
    std::string bytes_;
    bool ended_ = false;
  };

  mutable Mutex mutex_;
  std::vector<std::pair<std::string, std::string>> whole_ ABSL_GUARDED_BY(mutex_);
  int begun_ ABSL_GUARDED_BY(mutex_) = 0;
  int given_up_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The part of jobs/ that takes files.
class FakeFileDoor : public JobService {
 public:
  void BeginFile(const std::string& tenant, int64_t size,
                 Answer<std::unique_ptr<FileUpload>> done) override {
    if (!refusal().ok()) return done(refusal());
    done(files.Begin(tenant, size));
  }

  FakeFiles files;

 private:
  // What every call is refused with; OK: none is.
  virtual absl::Status refusal() const = 0;
};

}  // namespace reel::front
