// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/own_sound_latents.h"

#include <algorithm>

#include "model/ltx2/mel_spectrum.h"

namespace reel::model::ltx2 {

std::vector<HeldPiece> LatentsOfSound(const AudioVae& vae, const ConditionSound& sound,
                                      int64_t latents, at::Device device) {
  const AudioVaeConfig& config = vae.config();
  const int64_t samples = sound.samples();
  at::Tensor interleaved = at::empty({samples, sound.format.channels}, at::kFloat);
  std::copy_n(sound.interleaved.data(), interleaved.numel(), interleaved.data_ptr<float>());
  const at::Tensor spectrum = MelSpectrumOf(interleaved.t().contiguous(), config);
  const int64_t reached = samples / config.hop_length / AudioVaeConfig::kCompression + 1;
  const int64_t held = std::min(latents, reached);
  const at::Tensor heard = spectrum.slice(2, 0, AudioVaeConfig::Frames(held));
  return {{vae.Normalize(vae.Encode(heard.to(device))).cpu(), 0}};
}

}  // namespace reel::model::ltx2
