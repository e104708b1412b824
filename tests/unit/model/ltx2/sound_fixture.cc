// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx2/sound_fixture.h"

#include <ATen/Parallel.h>

#include <cstdlib>

#include "gtest/gtest.h"
#include "model/weights/json_file.h"

namespace reel::model::ltx2 {

std::string SoundFolder(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/ltx2_sound/" + name;
}

nlohmann::json SoundConfig(const std::string& name) {
  return *ReadJsonFile(SoundFolder(name) + "/config.json");
}

WeightSet SoundWeights(const std::string& name) {
  at::set_num_threads(1);  // tensors this small are only slowed down by more
  return *WeightSet::OpenFolder(SoundFolder(name), "diffusion_pytorch_model");
}

absl::StatusOr<Vocoder> LoadVocoder(const std::string& name) {
  const auto config = ReadVocoderConfig(SoundConfig(name), "config.json");
  if (!config.ok()) return config.status();
  return Vocoder::Load(SoundWeights(name), *config, at::kCPU);
}

absl::StatusOr<AudioVae> LoadAudioVae(at::ScalarType dtype) {
  const auto config = ReadAudioVaeConfig(SoundConfig("audio_vae"), "config.json");
  if (!config.ok()) return config.status();
  return AudioVae::Load(SoundWeights("audio_vae"), *config, dtype, at::kCPU);
}

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_EQ(actual.sizes(), expected.sizes());
  if (actual.sizes() != expected.sizes()) return 1;
  const at::Tensor a = actual.to(at::kDouble), e = expected.to(at::kDouble);
  return ((a - e).pow(2).mean() / e.pow(2).mean()).sqrt().item<double>();
}

}  // namespace reel::model::ltx2
