// SPDX-License-Identifier: Apache-2.0
#include "client/command/spec_flags.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command/quantity.h"
#include "client/command/value_flags.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

// The enum value that ends in this name: "veryfast" for ENCODING_SPEED_VERYFAST. 0: none.
template <class Parse, class Value>
Value ByName(Parse parse, const std::string& prefix, const std::string& name, Value fallback) {
  Value value = fallback;
  return parse(absl::StrCat(prefix, absl::AsciiStrToUpper(name)), &value) ? value : fallback;
}

}  // namespace

void SpecFlags::AddTo(CLI::App& command, SpecUse use) {
  command
      .add_option(use == SpecUse::kAgain ? "--prompt" : "prompt", prompt_,
                  "Text that describes the video")
      ->required(use == SpecUse::kVideo || use == SpecUse::kComparison);
  command.add_option("--model", model_, "A served model; `reel models` lists them")
      ->check(WhyEmpty);
  command.add_option("--negative-prompt", negative_prompt_,
                     "What the video should not show; \"\": nothing, if the model has a default");
  AddSizeFlags(command);
  guidance_.AddTo(command);
  command.add_option("--denoise-strength", denoise_strength_,
                     "How much of the schedule runs over given pictures, 0 to 1; of `reel refine` "
                     "how much noise the clip gets");
  command.add_option("--decode-timestep", decode_timestep_,
                     "For decoders that are conditioned on a timestep, 0 to 1");
  command.add_option("--seed", seed_, "Same seed, same video; the server picks one if left out")
      ->check(WhyNotSeed);
  conditions_.AddTo(command);
  adapters_.AddTo(command);
  command.add_option("--preset", preset_, "A named set of the model's defaults")->check(WhyEmpty);
  if (use != SpecUse::kComparison) {
    command
        .add_option("--kernels", profile_,
                    "Kernel profile: auto, reference, or lossy ones: int8, int8_all, fp8, "
                    "fp8_attention, fp8_all, routed, cache; and those of the server")
        ->check(WhyEmpty);
    AddPairs(command, "--kernel", kernels_, "OP=VARIANT",
             "One operator's variant, over the profile's choice; may be repeated");
    command
        .add_option("--experiment", experiment_,
                    "A configured A/B experiment (`reel experiments` lists them); -: none")
        ->check(WhyEmpty);
    command.add_option("--arm", arm_, "The arm of --experiment; left out, it is drawn")
        ->check(WhyEmpty);
  }
  command.add_option("--cache-threshold", cache_threshold_,
                     "With the profile cache: steps whose first block changes less reuse the last; "
                     "0 to 1");
  command.add_option("--cache-most-reused", most_reused_,
                     "Most steps in a row that reuse the last; 0 to 16");
  if (use == SpecUse::kVideo) {
    command.add_flag("--draft", draft_,
                     "Make only the first pass of the preset; `reel promote` makes the rest");
    command.add_flag("--keep-state", keep_state_,
                     "Keep what `reel extend` and `reel retake` need of the video");
    command.add_option("--preview-every", preview_every_, "Write a preview after every N-th step");
  }
  AddFileFlags(command);
  command.add_option("--worker", worker_, "Run on this worker; `reel info` lists them")
      ->check(WhyEmpty);
}

// Flags about its sizes.
void SpecFlags::AddSizeFlags(CLI::App& command) {
  // The server reads 0 as not given.
  using Spec = v1::VideoSpec;
  AddField(command, "--width", &Spec::set_width, "Pixels")->check(WhyNotAboveZero);
  AddField(command, "--height", &Spec::set_height, "Pixels")->check(WhyNotAboveZero);
  AddField(command, "--frames,--num-frames", &Spec::set_num_frames,
           "Number of frames, 8k + 1 for LTX-Video")
      ->check(WhyNotAboveZero);
  AddField(command, "--fps,--frame-rate", &Spec::set_frame_rate, "Frames per second")
      ->check(WhyNotAboveZero);
  AddField(command, "--steps,--num-inference-steps", &Spec::set_num_inference_steps,
           "Denoising steps")
      ->check(WhyNotAboveZero);
}

// Flags about the file: its sound, its encoding and its origin.
void SpecFlags::AddFileFlags(CLI::App& command) {
  command.add_flag("--no-sound", no_sound_, "Leave out the sound of a model that has it");
  AddField(command, "--normalise-loudness", &v1::VideoSpec::set_normalise_loudness,
           "Bring the sound to so many LUFS (EBU R 128), such as -23 or -14");
  command.add_option("--crf", crf_, "Quality of the file: 0 (lossless) to 51");
  command.add_option("--speed", speed_, "Speed of the video encoder; slower makes smaller files")
      ->check(CLI::IsMember({"ultrafast", "superfast", "veryfast", "faster", "medium"}));
  command
      .add_option("--origin", origin_,
                  "What the file says of how it was made: mark (default: by which model), spec "
                  "(all that `reel again` needs, the prompt too), none")
      ->check(CLI::IsMember({"none", "mark", "spec"}));
}

absl::StatusOr<v1::VideoSpec> SpecFlags::Spec(Session& session) const {
  v1::VideoSpec spec = Values();
  if (absl::Status filled = conditions_.Fill(session, spec); !filled.ok()) return filled;
  return spec;
}

absl::StatusOr<v1::VideoSpec> SpecFlags::SpecOver(const v1::VideoSpec& base,
                                                  Session& session) const {
  v1::VideoSpec spec = Values(), filled;
  filled.set_num_frames(spec.num_frames() > 0 ? spec.num_frames() : base.num_frames());
  if (absl::Status status = conditions_.Fill(session, filled); !status.ok()) return status;
  spec.mutable_conditions()->Swap(filled.mutable_conditions());
  if (filled.has_condition_crf()) spec.set_condition_crf(filled.condition_crf());
  return spec;
}

v1::VideoSpec SpecFlags::Values() const {
  v1::VideoSpec spec = given_;
  spec.set_model(model_);
  spec.set_prompt(prompt_);
  if (negative_prompt_) spec.set_negative_prompt(*negative_prompt_);
  spec.set_preset(preset_);
  spec.set_worker(worker_);
  guidance_.Fill(spec);
  adapters_.Fill(spec);
  if (denoise_strength_) spec.set_denoise_strength(*denoise_strength_);
  if (decode_timestep_) spec.set_decode_timestep(*decode_timestep_);
  if (seed_) spec.set_seed(*seed_);
  if (no_sound_) spec.set_sound(false);
  if (draft_) spec.set_stop_after_pass(1);
  if (keep_state_) spec.set_keep_state(true);
  if (!profile_.empty()) spec.mutable_kernels()->set_profile(profile_);
  if (!experiment_.empty()) spec.mutable_kernels()->set_experiment(experiment_);
  if (!arm_.empty()) spec.mutable_kernels()->set_arm(arm_);
  for (const auto& [op, variant] : kernels_) {
    (*spec.mutable_kernels()->mutable_variants())[op] = variant;
  }
  if (cache_threshold_) spec.mutable_cache()->set_threshold(*cache_threshold_);
  if (most_reused_) spec.mutable_cache()->set_most_reused(*most_reused_);
  if (preview_every_ != 0) spec.mutable_preview()->set_every_steps(preview_every_);
  if (crf_) spec.mutable_encoding()->set_crf(*crf_);
  if (!speed_.empty()) {
    spec.mutable_encoding()->set_speed(
        ByName(v1::EncodingSpeed_Parse, "ENCODING_SPEED_", speed_, v1::ENCODING_SPEED_UNSPECIFIED));
  }
  if (!origin_.empty()) {
    spec.mutable_encoding()->set_origin(
        ByName(v1::Origin_Parse, "ORIGIN_", origin_, v1::ORIGIN_UNSPECIFIED));
  }
  return spec;
}

void PriorityFlag::AddTo(CLI::App& command) {
  command.add_option("--priority", name_, "Which of your own jobs run first")
      ->check(CLI::IsMember({"low", "normal", "high"}));
}

v1::Priority PriorityFlag::value() const {
  return ByName(v1::Priority_Parse, "PRIORITY_", name_, v1::PRIORITY_UNSPECIFIED);
}

void CountFlag::AddTo(CLI::App& command, const std::string& what) {
  command.add_option("--count", count_, what)->check(WhyNotAboveZero);
}

void JobFlags::AddTo(CLI::App& command) {
  command
      .add_option("--request-id", request_id_,
                  "Your own UUID: a call with the same id and spec joins the same job")
      ->check(WhyEmpty);
  priority_.AddTo(command);
  AddDuration(command, "--timeout", timeout_, "Give up if it takes longer: 90, 90s, 5m");
  AddPairs(command, "--label", labels_, "NAME=VALUE",
           "Stored with the video, for your own use; may be repeated");
}

google::protobuf::Duration JobFlags::timeout() const { return ToProto(*timeout_); }

}  // namespace reel::client
