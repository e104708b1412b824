// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/header_bounds.h"

#include <grpc/slice.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "absl/status/status.h"
#include "server/front/rpc/replaced_function.h"

// Note: [A bound around gRPC's parser of headers]
// gRPC 1.51 checks the size of headers for each frame by itself, and a string only once it has all
// of it. So headers that never end take memory and time without end. Reel does not see such a call,
// and none of gRPC's settings changes that. The three functions below replace gRPC's: they count,
// then call its own. Beside another gRPC nobody calls them, and HeadersAreBounded is false.

namespace reel::front {

// Passed on as it is. Not of an unnamed namespace: a function that takes such a value is none that
// other files see.
struct HeaderFrameInfo {
  uint32_t stream;
  uint8_t type;
  bool is_client;
};

}  // namespace reel::front

#define REEL_BEGIN_FRAME                                                                   \
  "_ZN9grpc_core11HPackParser10BeginFrameEP19grpc_metadata_batchjNS0_8BoundaryENS0_8Prior" \
  "ityENS0_7LogInfoE"
#define REEL_PARSE "_ZN9grpc_core11HPackParser5ParseERK10grpc_sliceb"
#define REEL_DESTROY "_ZN9grpc_core11HPackParserD1Ev"

void BoundedBeginFrame(void* parser, void* metadata, uint32_t limit, uint8_t boundary,
                       uint8_t priority, reel::front::HeaderFrameInfo info)
    REEL_REPLACES(REEL_BEGIN_FRAME);
absl::Status BoundedParse(void* parser, const grpc_slice& slice, bool ends_frame)
    REEL_REPLACES(REEL_PARSE);
void BoundedDestroy(void* parser) REEL_REPLACES(REEL_DESTROY);

namespace reel::front {
namespace {

// Headers that have begun, by the parser of their connection.
class HeaderBlocks {
 public:
  // gRPC drops the fields of headers that belong to no call, and does not tell which of their
  // frames is the last: only their bytes count.
  void BeginFrame(const void* parser, bool is_last, bool is_dropped) {
    const std::scoped_lock lock(mutex_);
    Block& block = blocks_[parser];
    block.frames += is_dropped ? 0 : 1;
    block.is_in_last = is_last;
  }
  // False beyond the bounds.
  bool Add(const void* parser, size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(parser);
    if (found == blocks_.end()) return true;
    found->second.bytes += bytes;
    return found->second.bytes <= kMaxHeaderBytes && found->second.frames <= kMaxHeaderFrames;
  }
  void EndFrame(const void* parser) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(parser);
    if (found != blocks_.end() && found->second.is_in_last) blocks_.erase(found);
  }
  void Forget(const void* parser) {
    const std::scoped_lock lock(mutex_);
    blocks_.erase(parser);
  }

 private:
  struct Block {
    size_t bytes = 0, frames = 0;
    bool is_in_last = false;
  };

  std::mutex mutex_;
  std::unordered_map<const void*, Block> blocks_;
};

HeaderBlocks& Blocks() {
  static auto* const blocks = new HeaderBlocks;  // gRPC's threads may outlive main
  return *blocks;
}

}  // namespace

bool HeadersAreBounded() {
  return IsReplaced(REEL_BEGIN_FRAME, &BoundedBeginFrame) &&
         IsReplaced(REEL_PARSE, &BoundedParse) && IsReplaced(REEL_DESTROY, &BoundedDestroy);
}

}  // namespace reel::front

// `boundary` is 0 where a CONTINUATION follows. The limit is gRPC's default of 16 MiB until the
// client acknowledges the server's settings, which an attacker never does.
void BoundedBeginFrame(void* parser, void* metadata, uint32_t limit, uint8_t boundary,
                       uint8_t priority, reel::front::HeaderFrameInfo info) {
  static auto* const original =
      reel::front::ReplacedFunction<decltype(BoundedBeginFrame)>(REEL_BEGIN_FRAME);
  // What a client reads comes from a server of ours.
  if (!info.is_client) {
    reel::front::Blocks().BeginFrame(parser, boundary != 0, metadata == nullptr);
  }
  original(parser, metadata, std::min<uint32_t>(limit, reel::front::kMostMetadataBytes), boundary,
           priority, info);
}

// An error that names no stream closes the connection.
absl::Status BoundedParse(void* parser, const grpc_slice& slice, bool ends_frame) {
  static auto* const original = reel::front::ReplacedFunction<decltype(BoundedParse)>(REEL_PARSE);
  if (!reel::front::Blocks().Add(parser, GRPC_SLICE_LENGTH(slice))) {
    return absl::ResourceExhaustedError("The headers of a call are too long");
  }
  absl::Status status = original(parser, slice, ends_frame);
  if (ends_frame) reel::front::Blocks().EndFrame(parser);
  return status;
}

void BoundedDestroy(void* parser) {
  static auto* const original =
      reel::front::ReplacedFunction<decltype(BoundedDestroy)>(REEL_DESTROY);
  reel::front::Blocks().Forget(parser);
  original(parser);
}
