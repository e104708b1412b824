// SPDX-License-Identifier: Apache-2.0
// Plans how a model's weights are held on a device of a given size. Pure functions: the plan
// follows from configuration, model and device, never from load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::model {

// Where weights are between uses. kHost: in page-locked memory, and copied to the device for each
// use.
enum class Place { kAuto, kDevice, kHost };

// What a configuration says of the plan; kAuto leaves it to the device's size.
struct Offload {
  Place text = Place::kAuto;
  Place encoder = Place::kAuto;  // of pictures
  // Blocks of the transformer that stay on the device; the others are streamed in every step.
  std::optional<int> resident_blocks = {};

  friend bool operator==(const Offload&, const Offload&) = default;
};

// How the weights of a transformer's blocks are held. kE4m3: linear layers as 8-bit floats alone,
// those of the file where it has such, else made of its values, which loses precision. Profiles in
// e4m3 multiply the codes; others, and layers that those profiles leave out, widen them at each
// use.
//
// A text encoder's layers are held in the same way. Their codes are always widened.
enum class WeightsForm { k16, kE4m3 };

// "e4m3"; empty: in 16 bits, or 32 on a CPU.
std::string_view NameOf(WeightsForm form);
// Any other text is k16.
WeightsForm WeightsFormNamed(std::string_view name);

// Bytes of a model's weights as they are held in memory, by what can be moved.
struct WeightSizes {
  int64_t text_layers = 0;       // of the text encoder, all
  int64_t text_layer = 0;        // the largest, of the connectors' too
  int64_t text_table = 0;        // its embeddings, which are read on the host where it is there
  int64_t text_rest = 0;         // what stays on the device
  std::vector<int64_t> blocks;   // of the transformer, each
  int64_t around_blocks = 0;     // the rest of the transformer
  int64_t encoder_layers = 0;    // of the encoder of pictures, all that can be moved
  int64_t encoder_layer = 0;     // the largest
  int64_t autoencoders = 0;      // the rest of those of pictures and sound, upsampler and vocoder
  int64_t connector_layers = 0;  // between text encoder and transformer; they go with the texts
  int64_t connector_rest = 0;
  int64_t codes = 0;  // of the blocks once more in 8 bits, at most
  WeightsForm form = WeightsForm::k16;
  bool can_stream_blocks = false;

  int num_blocks() const { return static_cast<int>(blocks.size()); }
  int64_t all() const;
};

// What the plan is made for, in bytes.
struct FitNeed {
  int64_t device = 0;       // all of its memory
  int64_t usual_video = 0;  // the peak of the model's default video beside the weights
  int64_t least_video = 0;  // of the smallest
};

// Weights by part: bytes that stay on the device, and bytes in page-locked host memory.
struct FitPart {
  std::string name;
  int64_t device = 0, host = 0;

  friend bool operator==(const FitPart&, const FitPart&) = default;
};

struct FitPlan {
  Place text = Place::kDevice;
  Place encoder = Place::kDevice;
  int resident_blocks = 0;
  int streamed_blocks = 0;
  // Buffers on the device that streamed layers pass through; 0: nothing is streamed.
  int ring_slots = 0;
  int64_t slot_bytes = 0;
  std::vector<FitPart> parts;

  int64_t usable = 0;          // of the device, for weights and videos
  int64_t usual_video = 0;     // as in FitNeed
  int64_t step_copies = 0;     // bytes that each step copies to the device
  int64_t text_copies = 0;     // bytes that each text copies, unless it is remembered
  int64_t picture_copies = 0;  // bytes that each condition copies

  int64_t device_bytes() const;  // of weights and ring
  int64_t host_bytes() const;
  // Of the weights themselves, wherever they are.
  int64_t weight_bytes() const { return device_bytes() + host_bytes() - ring_slots * slot_bytes; }
  // What the usual video leaves; below 0: only smaller videos fit.
  int64_t left() const { return usable - device_bytes() - usual_video; }

  friend bool operator==(const FitPlan&, const FitPlan&) = default;
};

// Of a device's memory: all but a twentieth and a context.
int64_t UsableMemory(int64_t device);

// Whether block `index` is streamed. Streamed blocks lie evenly between resident ones, so that the
// time of resident blocks hides copies; the first is resident if any is.
bool IsStreamed(const FitPlan& plan, int index);

// The first form that leaves room for the usual video. Forms are, in this order: all weights on the
// device; the text encoder on the host; that of pictures too; blocks streamed, as few as possible.
// Where none does, the smallest form if the least video fits. RESOURCE_EXHAUSTED with the sum if
// not even that does. INVALID_ARGUMENT if the configuration asks for what this model cannot do.
absl::StatusOr<FitPlan> PlanFit(const WeightSizes& sizes, const FitNeed& need,
                                const Offload& offload);

// "15.6 GB = text encoder 9.5 + ...", of the device and of the host.
std::string SumOf(const FitPlan& plan);
std::string HostSumOf(const FitPlan& plan);

}  // namespace reel::model
