// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/gzip.h"

#include <zlib.h>

namespace reel::front {
namespace {

// JSON of spans repeats its names: more effort than the least gains little.
constexpr int kEffort = Z_BEST_SPEED;
constexpr int kWindowBits = 15 + 16;  // 16: with gzip's head and end
constexpr int kMemory = 8;            // zlib's default

}  // namespace

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kEffort, Z_DEFLATED, kWindowBits, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface is not const, and does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

}  // namespace reel::front
