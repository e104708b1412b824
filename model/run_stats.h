// SPDX-License-Identifier: Apache-2.0
// The results and costs of a run: the worker's half of a video's statistics, in the API's terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "kernels/dispatch/kernel_listing.h"

namespace reel::model {

// What a job is doing. The order is that of a run.
enum class Stage {
  kUnspecified,
  kQueue,
  kTextEncode,
  kConditionEncode,
  kDenoise,
  kSound,
  kDecode,
  kEncode
};

// A notice that is not an error.
struct Notice {
  std::string code;  // stable, UPPER_SNAKE_CASE
  std::string message;
};

// The texts of a request after a model has read them. Tokens are those of the whole text, including
// its end; 0: it was not read, or the model has none.
struct TextFacts {
  int prompt_tokens = 0;
  int negative_prompt_tokens = 0;
  std::vector<Notice> notices;
};

// The video's file.
struct MediaInfo {
  std::string content_type;   // e.g. video/mp4; codecs="avc1.64001f, mp4a.40.2"
  int64_t size_bytes = 0;     // 0 until it is complete
  std::string sha256;         // lower-case hex, of the whole file
  absl::Duration duration;    // of the clip
  int sample_rate = 0;        // of its sound; 0: it has none, or is not complete
  int width = 0, height = 0;  // of its pictures, in pixels; 0 until it is complete
};

// A part of a job's time; it is in exactly one at any moment. In the order of a run, but for
// kSound. From kHandover to kEncode, and in kSound, it is at a worker.
enum class RunPart {
  kUnspecified,
  kAccept,      // its request and conditions are stored
  kQueue,       // waits for a worker
  kLost,        // attempts in vain, until the next one is stored
  kHandover,    // commands, reports and bytes between reeld and the worker
  kConditions,  // waits for its pictures and clips to be decoded
  kText,        // is created; prompts and conditions are encoded
  kWait,        // held by the worker, which does something else
  kParked,      // parked for another job
  kDenoise,     // steps
  kPreview,
  kDecode,  // frames
  kEncode,  // waits for its encoder
  kFile,    // the rest of the file is written, synced and hashed
  kSound,   // samples, between the steps and the frames
};
inline constexpr size_t kRunParts = 15;

struct PartTime {
  RunPart part = RunPart::kUnspecified;
  absl::Duration time;
};

// One stretch of a part.
struct PartSpan {
  RunPart part = RunPart::kUnspecified;
  absl::Duration start;  // since acceptance; for a worker's span since it has the job
  absl::Duration duration;
  int step = 0;        // of a denoising step, from 1
  int jobs = 0;        // jobs that shared it
  bool timed = false;  // its operators were timed
};

// An operator's time in a part of the run: kText, kDenoise or kDecode.
struct OperatorCost {
  RunPart part = RunPart::kUnspecified;
  std::string op, variant;  // op "gaps": the time between operators
  int64_t calls = 0;        // timed calls
  absl::Duration timed;     // time of those calls
  absl::Duration estimate;  // estimate for the whole part, from the timed calls
};

// The operator and variant of waits for weights that stream to the device.
inline constexpr std::string_view kWeightsOp = "weights";
inline constexpr std::string_view kStreamVariant = "stream";

// What the file's sound is like, as it was encoded.
struct SoundStats {
  // EBU R 128, integrated over the whole; unset for silence and for less than 0.4 s.
  std::optional<double> loudness_lufs;
  std::optional<double> true_peak_dbtp;  // of all channels; unset for silence
  double silent_share = 0;               // of 10 ms pieces in which no sample reaches -60 dBFS
  int64_t clipped_samples = 0;           // at full scale or beyond, all channels together

  friend bool operator==(const SoundStats&, const SoundStats&) = default;
};

struct RunStats {
  absl::Duration queued;  // accepted to first step
  absl::Duration text_encode;
  absl::Duration denoise;  // all steps, without waiting between them
  absl::Duration sound_decode;
  absl::Duration decode;            // frames
  absl::Duration encode_exposed;    // encoder time that overlapped nothing else
  absl::Duration total;             // accepted to finished
  absl::Duration first_media_byte;  // accepted to first byte
  std::string device;
  int64_t peak_memory_bytes = 0;
  double mean_batch = 0;  // jobs that shared its steps
  std::vector<kernels::VariantUse> kernels;
  std::vector<kernels::VariantTime> kernel_stats;
  int restarts = 0;
  double device_seconds = 0;
  int prompt_tokens = 0;
  int negative_prompt_tokens = 0;
  int latent_tokens = 0;
  int audio_tokens = 0;
  std::vector<PartTime> parts;  // sum to `total`
  std::vector<PartSpan> spans;
  std::vector<OperatorCost> operators;
  int preemptions = 0;
  int timed_steps = 0;
  // Steps that were computed in full, and steps that reused an earlier result (kernel profile
  // "cache").
  int full_steps = 0, reused_steps = 0;
  int adapter_ranks = 0;                // columns that its adapters took together
  absl::Duration adapter_upload;        // reading them and bringing them to the device
  int64_t streamed_bytes = 0;           // of weights, copied to the device for its steps
  absl::Duration stream_stall;          // of its steps, for those; estimated from the timed ones
  std::optional<double> energy_joules;  // that the device used for it; unset: unknown
  std::optional<SoundStats> sound;      // unset: the file has none
};

}  // namespace reel::model
