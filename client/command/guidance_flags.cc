// SPDX-License-Identifier: Apache-2.0
#include "client/command/guidance_flags.h"

namespace reel::client {

void GuidanceFlags::AddTo(CLI::App& command) {
  command
      .add_option("--timesteps", timesteps_,
                  "Own timesteps instead of --steps, descending, 0 to 1000")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--guidance,--guidance-scale", scale_,
                     "Classifier-free guidance; 1 or less turns it off");
  command.add_option("--guidance-rescale", rescale_, "0 to 1");
  command.add_option("--audio-guidance-scale", audio_scale_,
                     "Guidance scale of the sound; 0: as the video's");
  command.add_option("--audio-guidance-rescale", audio_rescale_, "0 to 1");
  command.add_option("--stg-scale", stg_, "Guidance away from perturbed blocks; 0 turns it off");
  command.add_option("--audio-stg-scale", audio_stg_,
                     "--stg-scale of the sound; 0: as the video's");
  command.add_option("--stg-blocks", stg_blocks_, "Perturbed blocks, from 0: 14,19")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--modality-scale", modality_,
                     "Guidance away from pictures and sound that do not know of each other; 1 or "
                     "less turns it off");
  command.add_option("--audio-modality-scale", audio_modality_,
                     "--modality-scale of the sound; 0: as the video's");
}

void GuidanceFlags::Fill(v1::VideoSpec& spec) const {
  if (scale_) spec.set_guidance_scale(*scale_);
  if (rescale_) spec.set_guidance_rescale(*rescale_);
  if (audio_scale_) spec.set_audio_guidance_scale(*audio_scale_);
  if (audio_rescale_) spec.set_audio_guidance_rescale(*audio_rescale_);
  if (stg_) spec.set_stg_scale(*stg_);
  if (audio_stg_) spec.set_audio_stg_scale(*audio_stg_);
  if (modality_) spec.set_modality_scale(*modality_);
  if (audio_modality_) spec.set_audio_modality_scale(*audio_modality_);
  spec.mutable_stg_blocks()->Add(stg_blocks_.begin(), stg_blocks_.end());
  spec.mutable_timesteps()->Add(timesteps_.begin(), timesteps_.end());
}

}  // namespace reel::client
