// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/conv_table.h"

#include "model/torch_cuda/measured_device.h"

namespace reel::model {
namespace {

// The numbers of knobs are those of this version.
constexpr size_t kVersion = 91900;

struct Entry {
  int64_t channels, outputs, first_positions, last_positions;
  ConvKnobs knobs;
};

// Comments: what plans save of the library's choice at so many positions, in percent of the time on
// one H200 and on one H100.
constexpr Entry kEntries[] = {
    // 23 and 35 of 256; 14 and 12 of 2,688; 35 and 18 of 6,144, 21 and 10 of 13,376
    {128, 1024, 1, 512, {5, 1, 0, 0, 1, 8}},
    {128, 1024, 2049, 4096, {7, 1, 0, 0, 4, 2}},
    {128, 1024, 4097, kAnyMore, {0, 1, 0, 0, 1, 2}},
    // 18 and 12 of 256; 51 and 42 of 640, 32 and 25 of 2,688, 7 and 6 of 6,144, 24 and 16 of 13,376
    {1024, 1024, 1, 512, {7, 1, 0, 0, 2, 1}},
    {1024, 1024, 513, kAnyMore, {0, 1, 0, 0, 1, 2}},
    // 54 and 46 of 256, 57 and 52 of 640; 8 and 15 of 2,688, 6 and 11 of 6,144
    {1024, 4096, 1, 1024, {0, 1, 0, 0, 1, 2}},
    {1024, 4096, 2049, 8192, {3, 1, 0, 0, 1, 2}},
    // 45 and 44 of 1,792; 18 and 20 of 4,480; 20 and 21 of 19,968, 7 and 2 of 47,616, 4 and 5 of
    // 103,664
    {512, 512, 1, 2048, {7, 1, 0, 0, 4, 2}},
    {512, 512, 4097, 8192, {0, 1, 0, 0, 2, 2}},
    {512, 512, 16385, kAnyMore, {0, 1, 0, 1, 1, 2}},
    // 39 and 38 of 1,792; 11 and 17 of 4,480, 2 and 4 of 19,968
    {512, 2048, 1, 2048, {3, 1, 0, 1, 1, 2}},
    {512, 2048, 4097, 20480, {0, 1, 0, 1, 2, 1}},
    // 6 and 6 of 153,600, 4 and 0 of 374,784
    {256, 256, 131073, 393216, {0, 1, 0, 0, 1, 2}},
    // 16 and 18 of 13,312; 4 and 5 of 33,280; 9 and 1 of 73,728, 0 and 3 of 79,872, 6 and 3 of
    // 92,160, 4 and 2 of 107,008
    {256, 1024, 8193, 16384, {0, 1, 0, 1, 2, 2}},
    {256, 1024, 24577, 40960, {3, 1, 0, 1, 1, 2}},
    {256, 1024, 65537, 131072, {6, 1, 0, 0, 2, 1}},
    // 18 and 15 of 102,400, 9 and 6 of 256,000, 25 and 27 of 319,488, 21 and 19 of 491,520, 6 and
    // -3
    // of 688,128, 8 and 6 of 737,280, 28 and 15 of 856,064, 9 and -3 of 884,736
    {128, 128, 65537, kAnyMore, {0, 1, 0, 1, 1, 1}},
    // 21 and 20 of 102,400, 24 and 21 of 256,000; 28 and 20 of 294,912, 29 and 22 of 737,280, 32
    // and
    // 28 of 856,064
    {128, 48, 65537, 262144, {1, 0, 0, 1, 8, 1}},
    {128, 48, 262145, kAnyMore, {4, 0, 0, 0, 8, 1}},
};

}  // namespace

const ConvKnobs* TunedFor(const ConvShape& shape) {
  if (!IsMeasuredDevice() || cudnnGetVersion() != kVersion) return nullptr;
  for (const Entry& entry : kEntries) {
    const bool fits = entry.channels == shape.channels && entry.outputs == shape.outputs &&
                      shape.positions() >= entry.first_positions &&
                      shape.positions() <= entry.last_positions;
    if (fits) return &entry.knobs;
  }
  return nullptr;
}

}  // namespace reel::model
