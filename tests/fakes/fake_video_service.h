// SPDX-License-Identifier: Apache-2.0
// A gRPC server in the test's own process that plays one video, and the troubles that it is told to
// have. It keeps the promises of the real one (replay, offsets, checksums, idempotent request ids).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reel/v1/video_service.pb.h"
#include "tests/fakes/refusal.h"

namespace reel::fakes {

// The trouble of one streaming call; offsets are bytes of media sent by this call. -1: never.
struct Trouble {
  int64_t cut_after = -1;           // ends with UNAVAILABLE and no details
  int64_t corrupt_after = -1;       // the next chunk's checksum is wrong
  int64_t skip_after = -1;          // a chunk is left out
  int64_t restart_after = -1;       // the worker is lost: another attempt begins, with other bytes
  bool end_early = false;           // OK, but without `finished`
  bool wrong_hash = false;          // `finished` names another hash
  bool new_name = false;            // the job was lost, and this call makes another one
  bool wait_for_cancel = false;     // after the first steps, until CancelVideo or the client leaves
  bool ignore_cancel = false;       // CancelVideo is answered and nothing happens
  std::string notice = {};          // `accepted` carries it
  std::optional<Refusal> end = {};  // ends with this after the first steps
};

// What clients asked for, oldest first.
struct Asked {
  std::vector<v1::GenerateVideoRequest> generates;
  std::vector<v1::WatchVideoRequest> watches;
  std::vector<v1::DownloadVideoRequest> downloads;
  std::vector<v1::CreateVideoRequest> creates;
  std::vector<v1::EstimateVideoRequest> estimates;
  std::vector<std::string> files;  // sent ahead; named files/1, files/2 ...
  std::string authorization;       // the header of the last call
  int streams = 0;                 // streaming calls of all kinds
  int cancels = 0;
  int owners_left = 0;  // Generate calls that their client left
};

// Thread-safe. Listens on 127.0.0.1 from construction to destruction.
class FakeVideoService {
 public:
  explicit FakeVideoService(int64_t media_bytes = 300'000, int64_t chunk_bytes = 64 * 1024);
  ~FakeVideoService();

  std::string address() const;  // host:port
  void Shutdown();              // ends every call; the port closes

  // For the next streaming calls, one each, in order. Later calls have no trouble.
  void Play(const std::vector<Trouble>& troubles);
  // The next call of this method ("CreateVideo") is refused; repeated calls queue up.
  void RefuseNext(const std::string& method, const Refusal& refusal);
  // The check of its fleet finds that its store is away.
  void BreakFleetStore();
  // Added to the finished video.
  void Notice(const std::string& code, const std::string& message);
  void SetStats(const v1::RunStats& stats);
  // A pause before each message of a stream, so that a person or a script can follow it.
  void SetPause(int milliseconds);

  std::string name() const;   // of the video, the last one if there were several
  std::string media() const;  // of the last attempt
  v1::MediaInfo media_info() const;

  Asked asked() const;
  // Block until so many streaming calls have begun, or Generate calls been left.
  void WaitForStreams(int count) const;
  void WaitUntilLeft(int count) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::fakes
