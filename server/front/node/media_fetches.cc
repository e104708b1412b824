// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/media_fetches.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "server/front/node/fleet_errors.h"

namespace reel::front {

bool Spool::Take(int64_t bytes) {
  if (bytes_.fetch_add(bytes) + bytes <= max_bytes_) return true;
  bytes_ -= bytes;
  return false;
}

absl::StatusOr<std::shared_ptr<SpoolFile>> Spool::NewFile() {
  int descriptor = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    // File systems without O_TMPFILE: creates a file and unlinks it.
    std::string name = folder_ + "/spool-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
  }
  if (descriptor < 0) return absl::ErrnoToStatus(errno, "A file of the spool cannot be made");
  return std::make_shared<SpoolFile>(shared_from_this(), descriptor);
}

SpoolFile::SpoolFile(std::shared_ptr<Spool> spool, int descriptor)
    : spool_(std::move(spool)), descriptor_(descriptor) {}

SpoolFile::~SpoolFile() {
  ::close(descriptor_);
  spool_->Return(size_);
}

absl::Status SpoolFile::Append(std::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (!spool_->Take(size)) {
    return absl::ResourceExhaustedError("The spool of what other servers send is full");
  }
  int64_t written = 0;
  while (written < size) {
    const ssize_t done = ::pwrite(descriptor_, bytes.data() + written,
                                  static_cast<size_t>(size - written), size_ + written);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const absl::Status why = absl::ErrnoToStatus(errno, "The spool cannot be written");
      spool_->Return(size);
      return why;
    }
    written += done;
  }
  size_ += size;
  return absl::OkStatus();
}

absl::StatusOr<std::string> SpoolFile::Read(int64_t offset, int64_t size) const {
  std::string bytes(static_cast<size_t>(size), '\0');
  int64_t read = 0;
  while (read < size) {
    const ssize_t done =
        ::pread(descriptor_, bytes.data() + read, static_cast<size_t>(size - read), offset + read);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return absl::ErrnoToStatus(errno, "The spool cannot be read");
    if (done == 0) return absl::DataLossError("The spool has lost bytes");
    read += done;
  }
  return bytes;
}

absl::StatusOr<MediaFetches::Bytes> MediaFetches::Read(const StoredResult& result, int64_t offset,
                                                       Woken woken) {
  const MutexLock lock(mutex_);
  const Part part{result.key, offset / kPartBytes};
  const auto found = parts_.find(part);
  if (found == parts_.end()) {
    if (!Fetch(result, part)) return FleetUnavailable("Too much is read from the fleet's store");
    parts_[part].waiting.push_back(std::move(woken));
    return Bytes();
  }
  Fetched& fetched = found->second;
  if (!fetched.done) {
    fetched.waiting.push_back(std::move(woken));
    return Bytes();
  }
  if (!fetched.error.ok()) {
    const absl::Status error = fetched.error;
    Drop(part);
    return error;
  }
  recent_.splice(recent_.begin(), recent_, fetched.place);
  const Bytes bytes = fetched.bytes;
  const Part next{part.first, part.second + 1};
  if (next.second * kPartBytes < result.size && !parts_.contains(next)) Fetch(result, next);
  return bytes;
}

bool MediaFetches::Fetch(const StoredResult& result, const Part& part) {
  const bool taken = pool_.Put([this, result, part] { Carry(result, part); });
  if (taken) parts_.try_emplace(part);
  return taken;
}

void MediaFetches::Carry(const StoredResult& result, const Part& part) {
  const int64_t offset = part.second * kPartBytes;
  const int64_t size = std::min(kPartBytes, result.size - offset);
  auto bytes = objects_.Get(result.key, offset, size);
  state_.Note(bytes.status());
  absl::Status error = bytes.status();
  if (error.ok() && static_cast<int64_t>(bytes->size()) != size) {
    error = absl::OutOfRangeError("the object is shorter than its video says");
  }
  std::vector<Woken> waiting;
  {
    const MutexLock lock(mutex_);
    Fetched& fetched = parts_[part];
    fetched.done = true;
    fetched.error = error.ok() ? error : ReadFailure(error);
    if (error.ok()) fetched.bytes = std::make_shared<const std::string>(*std::move(bytes));
    recent_.push_front(part);
    fetched.place = recent_.begin();
    waiting = std::exchange(fetched.waiting, {});
    while (recent_.size() > kMostParts) Drop(Part(recent_.back()));
  }
  for (Woken& woken : waiting) woken();
}

void MediaFetches::Drop(const Part& part) {
  const auto found = parts_.find(part);
  recent_.erase(found->second.place);
  parts_.erase(found);
}

}  // namespace reel::front
