// SPDX-License-Identifier: Apache-2.0
// The released networks between latents, pictures and sound, as a check of a folder looks at them:
// every tensor by name and shape, none of their values.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/audio_vae.h"
#include "model/ltx2/upsampler_config.h"
#include "model/ltx2/video_vae_config.h"
#include "model/ltx2/vocoder.h"
#include "model/vae/video_vae.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

constexpr char kBasis[] = "mel_stft.stft_fn.inverse_basis";  // of no use to anybody

// A network as it is released: its configuration, and a file with holes for values.
class Release {
 public:
  explicit Release(const std::string& name)
      : layout_(*ReadJsonFile(std::string(std::getenv("REEL_SOURCE")) +
                              "/tests/golden/ltx2/layouts/" + name + ".json")) {}

  nlohmann::json& config() { return layout_["config"]; }
  nlohmann::json& shapes() { return layout_["shapes"]; }

  // Of a byte a number.
  WeightSet Weights() const {
    nlohmann::json header;
    int64_t end = 0;
    for (const auto& [name, shape] : layout_["shapes"].items()) {
      const int64_t begin = end;
      end += Count(shape);
      header[name] = {{"dtype", "F8_E4M3"}, {"shape", shape}, {"data_offsets", {begin, end}}};
    }
    const std::string bytes = SafetensorsBytes(header.dump(), "");
    const std::string file = scratch_.Write("weights.safetensors", bytes);
    std::filesystem::resize_file(file, bytes.size() + static_cast<uint64_t>(end));
    return *WeightSet::OpenFile(file);
  }
  int64_t Numbers() const {
    int64_t numbers = 0;
    for (const auto& [name, shape] : layout_["shapes"].items()) {
      if (name != kBasis) numbers += Count(shape);
    }
    return numbers;
  }

 private:
  static int64_t Count(const nlohmann::json& shape) {
    int64_t count = 1;
    for (const auto& size : shape) count *= size.get<int64_t>();
    return count;
  }

  const reel::testing::TempFolder scratch_;
  nlohmann::json layout_;
};

// Numbers, or why the network is refused.
absl::StatusOr<int64_t> Look(const std::string& name, Release& release) {
  const auto numbers = [](const auto& loaded) -> absl::StatusOr<int64_t> {
    if (!loaded.ok()) return loaded.status();
    if constexpr (requires { loaded->parameters(); }) {
      return loaded->parameters();
    } else {
      return loaded->parameters;
    }
  };
  const auto refused = [](const auto& config) { return absl::StatusOr<int64_t>(config.status()); };
  const WeightSet weights = release.Weights();
  const at::Device nowhere = at::kMeta;
  if (name.starts_with("vae")) {
    const auto config = ReadVideoVaeConfig(release.config(), name);
    if (!config.ok()) return refused(config);
    return numbers(LoadVideoVae(weights, *config, at::kBFloat16, nowhere));
  }
  if (name.starts_with("audio_vae")) {
    const auto config = ReadAudioVaeConfig(release.config(), name);
    if (!config.ok()) return refused(config);
    return numbers(AudioVae::Load(weights, *config, at::kBFloat16, nowhere));
  }
  if (name.starts_with("vocoder")) {
    const auto config = ReadVocoderConfig(release.config(), name);
    if (!config.ok()) return refused(config);
    return numbers(Vocoder::Load(weights, *config, nowhere));
  }
  const auto config = ReadUpsamplerConfig(release.config(), name);
  if (!config.ok()) return refused(config);
  return numbers(LatentUpsampler::Load(weights, *config, at::kBFloat16, nowhere));
}

class EveryRelease : public ::testing::TestWithParam<std::string> {
 protected:
  std::string Refusal(Release& release) const {
    return std::string(Look(GetParam(), release).status().message());
  }
};

TEST_P(EveryRelease, HasEachTensorThatItsConfigurationNeedsAndNoOther) {
  Release release(GetParam());
  const auto numbers = Look(GetParam(), release);
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  EXPECT_EQ(*numbers, release.Numbers());
}

TEST_P(EveryRelease, IsRefusedWithTheNameOfATensorThatIsMissingWrongOrNotUsed) {
  Release missing(GetParam());
  const std::string name = missing.shapes().begin().key();
  missing.shapes().erase(name);
  EXPECT_THAT(Refusal(missing), HasSubstr(name + ": the tensor is missing"));
  Release wrong(GetParam());
  wrong.shapes()[name].push_back(2);
  EXPECT_THAT(Refusal(wrong), HasSubstr(name + ": its shape is ["));
  Release extra(GetParam());
  extra.shapes()["extra.weight"] = {2, 3};
  EXPECT_THAT(Refusal(extra), HasSubstr("extra.weight"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryRelease,
                         ::testing::Values("vae-2.0", "vae-2.3", "audio_vae-2.0", "vocoder-2.0",
                                           "vocoder-2.3", "latent_upsampler-2.0",
                                           "latent_upsampler-2.3"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& letter : name)
                             letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter
                                                                                            : '_';
                           return name;
                         });

}  // namespace
}  // namespace reel::model::ltx2
