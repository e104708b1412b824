// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/test_card.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/device_gone.h"
#include "model/own_sound.h"
#include "model/pass_work.h"
#include "model/refinement.h"
#include "model/testcard/clip_codes.h"
#include "model/testcard/faults.h"
#include "model/testcard/frame_pixels.h"
#include "model/testcard/hum.h"
#include "model/testcard/picture.h"
#include "model/testcard/picture_code.h"

namespace reel::model {
namespace {

// Small pieces, so that cancels are read soon; a single frame first, so that the first bytes leave
// soon.
constexpr int kFramesPerPiece = 4;
constexpr int64_t kBytesPerToken = 128 * 4;  // the size of LTX-Video's latents

class TestCardGeneration final : public Generation {
 public:
  TestCardGeneration(const GenerationSpec& resolved, const ModelCard& card,
                     const TestCardOptions& options, std::shared_ptr<CountedMemory> memory)
      : spec(resolved),
        size(FileSizeOf(resolved, card)),
        picture(SubjectOf(spec), *spec.seed, size.width, size.height),
        frames_bytes(memory),
        passes_(PassesOf(resolved, card)),
        frames_made_(FramesMade(resolved, card)),
        state_bytes_(options.memory.per_token * tokens()),
        state_(std::move(memory)) {}

  int step() const override { return steps_done; }
  int num_steps() const override {
    int steps = 0;
    for (const PassWork& pass : passes_) steps += pass.steps;
    return steps;
  }
  bool has_frames() const override {
    return Generation::has_frames() || (!frames_made_.empty() && frames_made() > frames_done);
  }
  bool has_sound() const override { return !hummed; }
  // How many frames no later step changes: all, unless it refines a clip.
  int frames_made() const {
    if (frames_made_.empty() || Generation::has_frames()) return spec.num_frames;
    const auto windows = static_cast<size_t>(steps_done / passes_.front().steps);
    return windows == 0 ? 0 : frames_made_[windows - 1];
  }
  int64_t rows() const override {
    int steps = 0;
    for (const PassWork& pass : passes_) {
      steps += pass.steps;
      if (steps_done < steps) return pass.rows;
    }
    return passes_.back().rows;
  }
  TextFacts text_facts() const override {
    TextFacts facts;
    facts.notices = RefinementNotices(spec);
    if (auto notice = OwnSoundNotice(spec)) facts.notices.push_back(*std::move(notice));
    return facts;
  }
  int64_t device_bytes() const override { return on_host_ ? 0 : tokens() * kBytesPerToken; }
  absl::Status Park(bool to_host) override {
    parked = true;
    on_host_ = to_host;
    return to_host ? state_.Resize(0) : absl::OkStatus();
  }
  absl::Status Resume() override {
    REEL_RETURN_IF_ERROR(TakeState());
    parked = on_host_ = false;
    return absl::OkStatus();
  }
  absl::Status TakeState() { return state_.Resize(state_bytes_); }
  int64_t tokens() const { return LargestOf(passes_).tokens; }

  const GenerationSpec spec;
  const FileSize size;
  const TestPicture picture;
  ClipCodes codes;                       // of a video that holds latents of another; else empty
  std::map<uint32_t, TestPicture> held;  // that it has shown, by hash
  int steps_done = 0;
  bool hummed = false;
  int frames_done = 0;
  bool parked = false;
  CountedBytes frames_bytes;  // from its first frame on

 private:
  // How many frames are made after each window of a refined clip; empty for other videos.
  static std::vector<int> FramesMade(const GenerationSpec& resolved, const ModelCard& card) {
    std::vector<int> frames;
    if (RefinedClipOf(resolved) == nullptr) return frames;
    for (const Stretch& window : RefinementWindows(resolved, card)) {
      frames.push_back(static_cast<int>(window.end - 1) * card.temporal_multiple + 1);
    }
    return frames;
  }

  const std::vector<PassWork> passes_;
  const std::vector<int> frames_made_;
  int64_t state_bytes_;
  CountedBytes state_;
  bool on_host_ = false;
};

TestCardGeneration& Mine(Generation& generation) {
  return static_cast<TestCardGeneration&>(generation);
}

PassState MadeBy(const GenerationSpec& spec, const ModelCard& card, const ClipCodes& codes) {
  PassState made;
  made.passes = spec.stop_after_pass.value_or(NumPasses(spec.preset, card));
  made.tensors[PassState::kLatents] = TensorOf(codes);
  return made;
}

// Puts the pictures of conditions into the frame that they pin, above the code.
void DrawPinned(const GenerationSpec& spec, const FileSize& size, int frame,
                std::vector<uint8_t>& rgb) {
  const int rows = CodeLayoutOf(size.width, size.height).top;
  for (const Condition& condition : spec.conditions) {
    const ConditionPixels* const pixels = condition.pixels.get();
    int at = frame - condition.frame_index;
    // The last frame of a clip that is refined stands still.
    if (pixels != nullptr && condition.is_refined()) at = std::min(at, pixels->num_frames - 1);
    if (pixels == nullptr || at < 0 || at >= pixels->num_frames) continue;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < size.width; ++x) {
        // A draft is smaller than its pictures.
        const int64_t row = int64_t{at} * pixels->height + y * pixels->height / size.height;
        const int64_t from = row * pixels->width + x * pixels->width / size.width;
        std::copy_n(pixels->rgb.begin() + 3 * from, 3,
                    rgb.begin() + 3 * (int64_t{y} * size.width + x));
      }
    }
  }
}

[[noreturn]] void Hang() {
  for (;;) absl::SleepFor(absl::Hours(1));
}

absl::Status StatusOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return absl::OkStatus();
    case FaultKind::kHang:
      Hang();
    case FaultKind::kExit:
      _exit(1);
    case FaultKind::kNan:
      return absl::DataLossError("The test card was told to make NaN");
    case FaultKind::kOom:
      return absl::ResourceExhaustedError("The test card was told to run out of device memory");
    case FaultKind::kSticky:
      return absl::AbortedError("The test card was told to lose its device's context");
    case FaultKind::kLost:
      return kernels::DeviceGoneError("The test card was told to lose its device");
  }
  return absl::OkStatus();
}

class TestCard final : public Pipeline {
 public:
  TestCard(const std::string& name, const TestCardOptions& options,
           std::shared_ptr<CountedMemory> memory)
      : card_(TestCardModelCard(name, options)),
        options_(options),
        faults_(options.faults),
        memory_(std::move(memory)),
        kept_(memory_) {}

  const ModelCard& card() const override { return card_; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  void ForgetKept() override { kept_.Resize(0).IgnoreError(); }

  absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                     const kernels::Execution&) override {
    return std::make_unique<TestCardGeneration>(resolved, card_, options_, memory_);
  }

  absl::StatusOr<std::unique_ptr<Generation>> CreateFrom(const GenerationSpec& resolved,
                                                         const PassState& made,
                                                         const kernels::Execution& run) override {
    if (resolved.holds_latents()) {
      REEL_ASSIGN_OR_RETURN(const ClipCodes source, CodesOf(made));
      REEL_ASSIGN_OR_RETURN(ClipCodes codes, CodesWithHeld(resolved, card_, source));
      auto generation = std::make_unique<TestCardGeneration>(resolved, card_, options_, memory_);
      generation->codes = std::move(codes);
      return generation;
    }
    if (made.tensors != MadeBy(resolved, card_, OwnCodes(resolved, card_)).tensors) {
      return absl::FailedPreconditionError("the latents are those of another test card");
    }
    return Create(resolved, run);
  }

  absl::StatusOr<PassState> State(const Generation& generation) const override {
    const auto& mine = static_cast<const TestCardGeneration&>(generation);
    return MadeBy(mine.spec, card_, mine.codes.empty() ? OwnCodes(mine.spec, card_) : mine.codes);
  }

  absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution&) override {
    REEL_RETURN_IF_ERROR(Mine(generation).TakeState());
    REEL_RETURN_IF_ERROR(kept_.Resize(kept_.bytes() + options_.memory.kept_per_video));
    return true;
  }

  std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                 const kernels::Execution&) override {
    absl::SleepFor(StepTime(generations));
    return EndStep(generations);
  }

  std::unique_ptr<StepInPieces> BeginStep(absl::Span<Generation* const> generations, int pieces,
                                          const kernels::Execution&) override {
    return std::make_unique<Pieces>(*this, generations, pieces);
  }

  absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                   const kernels::Execution&) override {
    const auto& mine = static_cast<const TestCardGeneration&>(generation);
    const double noise = 1 - static_cast<double>(mine.step()) / std::max(1, mine.num_steps());
    const int longest = std::max(mine.size.width, mine.size.height);
    // Skips pixels; the encoder shrinks what is still too large.
    const int every = std::max(1, longest / std::max(1, max_side));
    const std::vector<uint8_t> full = mine.picture.DrawNoisy(mine.spec.num_frames / 2, noise);
    RgbImage image{mine.size.width / every, mine.size.height / every, {}};
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const auto at = (static_cast<std::ptrdiff_t>(y) * every * mine.size.width + x * every) * 3;
        image.pixels.insert(image.pixels.end(), full.begin() + at, full.begin() + at + 3);
      }
    }
    return image;
  }

  absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                  const kernels::Execution&) override {
    TestCardGeneration& mine = Mine(generation);
    const int64_t pixels = int64_t{mine.size.width} * mine.size.height * mine.spec.num_frames;
    REEL_RETURN_IF_ERROR(mine.frames_bytes.Resize(options_.memory.per_decoded_pixel * pixels));
    if (sink.TakesSound() && !std::exchange(mine.hummed, true)) {
      const std::vector<float> sound = SoundOf(mine.spec);
      REEL_RETURN_IF_ERROR(sink.PushSamples({kHumFormat, sound}));
      return false;
    }
    const int left = mine.frames_made() - mine.frames_done;
    const int count = std::min(mine.frames_done == 0 ? 1 : kFramesPerPiece, left);
    if (count == 0) return false;
    absl::SleepFor(count * options_.decode_time_per_frame);
    std::vector<std::byte> frames;
    for (int i = 0; i < count; ++i) {
      AppendFrame(Drawn(mine, mine.frames_done + i), mine.size.width, sink.format(), frames);
    }
    REEL_RETURN_IF_ERROR(
        sink.Push({sink.format(), mine.size.width, mine.size.height, count, frames}));
    mine.frames_done += count;
    return mine.frames_done == mine.spec.num_frames;
  }

  absl::StatusOr<LatentsView> Latents(const Generation&) const override {
    return absl::FailedPreconditionError("The test card has no latents");
  }

 private:
  std::vector<uint8_t> Drawn(TestCardGeneration& mine, int frame) const {
    if (mine.codes.empty()) {
      std::vector<uint8_t> rgb = mine.picture.Draw(frame);
      DrawPinned(mine.spec, mine.size, frame, rgb);
      return rgb;
    }
    const PictureCode code = CodeOf(mine.codes, frame, card_);
    const auto known =
        mine.held.try_emplace(code.hash, code.hash, mine.size.width, mine.size.height).first;
    return known->second.Draw(code.frame);
  }

  class Pieces final : public StepInPieces {
   public:
    Pieces(TestCard& card, absl::Span<Generation* const> generations, int pieces)
        : card_(card),
          generations_(generations.begin(), generations.end()),
          left_(pieces),
          piece_(card.StepTime(generations) / pieces) {}
    std::optional<std::vector<absl::Status>> Next(const kernels::Execution&) override {
      absl::SleepFor(piece_);
      if (--left_ > 0) return std::nullopt;
      return card_.EndStep(generations_);
    }

   private:
    TestCard& card_;
    const std::vector<Generation*> generations_;
    int left_;
    const absl::Duration piece_;
  };

  absl::Duration StepTime(absl::Span<Generation* const> generations) const {
    const auto extra = static_cast<int>(generations.size()) - 1;
    return options_.step_time + std::max(extra, 0) * options_.step_time_per_extra_job;
  }

  std::vector<absl::Status> EndStep(absl::Span<Generation* const> generations) {
    CountedBytes work(memory_);
    const absl::Status room = work.Resize(WorkOf(generations));
    if (!room.ok()) return std::vector<absl::Status>(generations.size(), room);
    std::vector<absl::Status> results;
    for (Generation* generation : generations) results.push_back(FaultOf(Mine(*generation)));
    // Memory and context belong to the device, so all jobs in the step are affected.
    for (const absl::Status& result : results) {
      if (!absl::IsResourceExhausted(result) && !absl::IsAborted(result)) continue;
      return std::vector<absl::Status>(generations.size(), result);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].ok()) ++Mine(*generations[i]).steps_done;
    }
    return results;
  }

  int64_t WorkOf(absl::Span<Generation* const> generations) const {
    int64_t bytes = 0;
    for (Generation* generation : generations) {
      bytes += options_.memory.per_step_row * generation->rows() +
               options_.memory.untold_per_token * Mine(*generation).tokens();
    }
    return bytes;
  }

  absl::Status FaultOf(const TestCardGeneration& generation) {
    if (generation.parked) return absl::FailedPreconditionError("A parked generation was stepped");
    return StatusOf(faults_.Next(generation.spec.prompt, generation.steps_done));
  }

  const ModelCard card_;
  const TestCardOptions options_;
  FaultTable faults_;
  const std::shared_ptr<CountedMemory> memory_;
  CountedBytes kept_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> MakeTestCard(const std::string& name,
                                                       const TestCardOptions& options,
                                                       std::shared_ptr<CountedMemory> memory) {
  REEL_RETURN_IF_ERROR(FaultTable::Check(options.faults));
  absl::SleepFor(options.load_time);
  return std::make_unique<TestCard>(name, options, std::move(memory));
}

}  // namespace reel::model
