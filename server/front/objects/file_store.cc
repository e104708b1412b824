// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/file_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/whole_file.h"
#include "kernels/base/status_macros.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

namespace fs = std::filesystem;

constexpr char kFacts[] = ".facts";     // beside the bytes
constexpr char kUnfinished[] = ".new";  // of facts
constexpr char kFormat[] = "reel object 1";
constexpr size_t kPage = 1000;
constexpr size_t kPiece = 1 << 20;

std::string NameOf(const std::string& key) { return Sha256Hex(key); }

struct Facts {
  std::string key;
  MediaDigest digest;
  absl::Time changed;
};

std::string WriteText(const Facts& facts) {
  std::string text =
      absl::StrCat(kFormat, "\n", facts.key, "\n", facts.digest.size, "\n", facts.digest.sha256,
                   "\n", absl::ToUnixSeconds(facts.changed), "\n");
  for (const uint32_t sum : facts.digest.blocks) {
    absl::StrAppend(&text, absl::Hex(sum, absl::kZeroPad8));
  }
  absl::StrAppend(&text, "\n");
  return text + Sha256Hex(text);
}

// nullopt: damaged, or of another build.
std::optional<Facts> ReadText(const std::string& text) {
  const size_t end = text.rfind('\n');
  if (end == text.npos || text.substr(end + 1) != Sha256Hex(text.substr(0, end + 1))) {
    return std::nullopt;
  }
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  int64_t seconds = 0;
  Facts facts;
  if (lines.size() != 7 || lines[0] != kFormat || !absl::SimpleAtoi(lines[2], &facts.digest.size) ||
      !absl::SimpleAtoi(lines[4], &seconds)) {
    return std::nullopt;
  }
  facts.key = lines[1];
  facts.digest.sha256 = lines[3];
  facts.changed = absl::FromUnixSeconds(seconds);
  for (size_t at = 0; at + 8 <= lines[5].size(); at += 8) {
    uint32_t sum = 0;
    if (!absl::SimpleHexAtoi(lines[5].substr(at, 8), &sum)) return std::nullopt;
    facts.digest.blocks.push_back(sum);
  }
  return facts;
}

absl::Status BadKey() { return absl::InvalidArgumentError("no key of an object"); }

// As the interface has it.
absl::Status Refusal(const absl::Status& status) {
  if (absl::IsInternal(status)) return absl::UnavailableError(status.message());
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileStore>> FileStore::Open(const std::string& folder,
                                                           FileOps& ops) {
  std::error_code error;
  if (fs::create_directory(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!opened.ok()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("The folder cannot be opened: ", folder));
  }
  std::unique_ptr<FileStore> store(new FileStore(folder, std::move(opened), ops));
  REEL_RETURN_IF_ERROR(store->ReadFolder());
  return store;
}

absl::Status FileStore::ReadFolder() {
  const MutexLock lock(mutex_);
  std::set<std::string> names, known;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (!absl::EndsWith(name, kFacts)) {
      names.insert(name);
      continue;
    }
    const std::string stem = entry.path().stem().string();
    known.insert(stem);  // also of facts that cannot be read: nothing of it is removed
    std::optional<Facts> facts = ReadText(ReadWholeFile(entry.path()).value_or(""));
    if (!facts || NameOf(facts->key) != stem) {
      Log(LogLevel::kError, "What is known of a stored object cannot be read", {{"file", name}});
      continue;
    }
    bytes_ += facts->digest.size;
    objects_[facts->key] = {std::move(facts->digest), facts->changed};
  }
  if (error) return absl::UnavailableError(absl::StrCat("The folder cannot be read: ", path_));
  for (const std::string& name : names) {
    if (!known.contains(name)) ::unlinkat(folder_.get(), name.c_str(), 0);
  }
  return absl::OkStatus();
}

absl::Status FileStore::PutBytes(const std::string& key, std::string_view bytes,
                                 const std::string&) {
  return Put(key, Sha256Hex(bytes),
             [&](MediaWriter& writer) { return writer.Append(writer.size(), bytes); });
}

absl::Status FileStore::PutFile(const std::string& key, const ObjectFile& file) {
  return Put(key, file.sha256, [&](MediaWriter& writer) -> absl::Status {
    std::ifstream in(file.path, std::ios::binary);
    std::string piece(kPiece, '\0');
    while (in.read(piece.data(), kPiece), in.gcount() > 0) {
      const auto size = static_cast<size_t>(in.gcount());
      REEL_RETURN_IF_ERROR(writer.Append(writer.size(), std::string_view(piece).substr(0, size)));
    }
    return absl::OkStatus();
  });
}

absl::Status FileStore::Put(const std::string& key, const std::string& sha256, Fill fill) {
  if (!IsLegalKey(key)) return BadKey();
  const MutexLock write(writes_);
  {
    const MutexLock lock(mutex_);
    if (stopped_) return absl::CancelledError("the store is stopped");
    const auto known = objects_.find(key);
    if (known != objects_.end()) {
      if (known->second.digest.sha256 == sha256) return absl::OkStatus();
      return absl::AlreadyExistsError("another object lies under this key");
    }
  }
  absl::StatusOr<MediaDigest> digest = WriteObject(key, sha256, fill);
  const Object object{digest.ok() ? *digest : MediaDigest(), absl::Now()};
  absl::Status done = digest.status();
  if (done.ok()) done = WriteFacts(key, object);
  if (!done.ok()) {
    RemoveFiles(NameOf(key));
    return Refusal(done);
  }
  const MutexLock lock(mutex_);
  objects_[key] = object;
  bytes_ += object.digest.size;
  return absl::OkStatus();
}

absl::StatusOr<MediaDigest> FileStore::WriteObject(const std::string& key,
                                                   const std::string& sha256, Fill fill) {
  REEL_ASSIGN_OR_RETURN(const std::unique_ptr<MediaWriter> writer,
                        MediaWriter::Create(ops_, folder_.get(), NameOf(key)));
  REEL_RETURN_IF_ERROR(fill(*writer));
  REEL_ASSIGN_OR_RETURN(MediaDigest digest, writer->Finish(folder_.get()));
  if (digest.sha256 != sha256) return absl::DataLossError("the bytes are not those that were said");
  return digest;
}

absl::Status FileStore::WriteFacts(const std::string& key, const Object& object) {
  const std::string name = NameOf(key), unfinished = name + kUnfinished;
  REEL_ASSIGN_OR_RETURN(const std::unique_ptr<MediaWriter> writer,
                        MediaWriter::Create(ops_, folder_.get(), unfinished));
  REEL_RETURN_IF_ERROR(writer->Append(0, WriteText({key, object.digest, object.changed})));
  REEL_RETURN_IF_ERROR(writer->Finish(folder_.get()).status());
  if (::renameat(folder_.get(), unfinished.c_str(), folder_.get(), (name + kFacts).c_str()) != 0 ||
      ops_.Sync(folder_.get()) != 0) {
    return WriteError(errno);
  }
  return absl::OkStatus();
}

// The facts first: bytes alone are nothing.
void FileStore::RemoveFiles(const std::string& name) {
  for (const std::string& file : {name + kFacts, name + kUnfinished, name}) {
    ::unlinkat(folder_.get(), file.c_str(), 0);
  }
}

absl::StatusOr<FileStore::Object> FileStore::Find(const std::string& key) {
  if (!IsLegalKey(key)) return BadKey();
  if (stopped_) return absl::CancelledError("the store is stopped");
  const auto known = objects_.find(key);
  if (known == objects_.end()) return absl::NotFoundError("no such object");
  return known->second;
}

absl::StatusOr<std::string> FileStore::Get(const std::string& key, int64_t offset, int64_t size) {
  std::shared_ptr<const MediaReader> reader;
  {
    // Nobody removes the file meanwhile.
    const MutexLock lock(mutex_);
    REEL_ASSIGN_OR_RETURN(const Object object, Find(key));
    if (offset >= object.digest.size) return absl::OutOfRangeError("behind the object's end");
    REEL_ASSIGN_OR_RETURN(reader,
                          OpenMediaFile(folder_.get(), NameOf(key),
                                        MediaSeal{object.digest.size, object.digest.blocks}));
  }
  return reader->Read(offset, size);
}

absl::StatusOr<ObjectFacts> FileStore::Head(const std::string& key) {
  const MutexLock lock(mutex_);
  REEL_ASSIGN_OR_RETURN(const Object object, Find(key));
  return ObjectFacts{object.digest.size, object.digest.sha256};
}

absl::Status FileStore::Delete(const std::string& key) {
  const MutexLock write(writes_);
  {
    const MutexLock lock(mutex_);
    const absl::StatusOr<Object> known = Find(key);
    if (!known.ok()) return absl::IsNotFound(known.status()) ? absl::OkStatus() : known.status();
    bytes_ -= known->digest.size;
    objects_.erase(key);
  }
  RemoveFiles(NameOf(key));
  return absl::OkStatus();
}

absl::StatusOr<ObjectPage> FileStore::List(const std::string& prefix, const std::string& after) {
  const MutexLock lock(mutex_);
  if (stopped_) return absl::CancelledError("the store is stopped");
  ObjectPage page;
  auto next = after < prefix ? objects_.lower_bound(prefix) : objects_.upper_bound(after);
  for (; next != objects_.end() && absl::StartsWith(next->first, prefix); ++next) {
    if (page.objects.size() == kPage) {
      page.more = true;
      break;
    }
    page.objects.push_back({next->first, next->second.digest.size, next->second.changed});
  }
  return page;
}

void FileStore::Stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
}

}  // namespace reel::front
