// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/vocoder_config.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

using End = GeneratorConfig::End;

constexpr IntRange kChannels = {1, 65536}, kKernels = {1, 1024}, kRates = {1, 1'000'000};

// What a class takes for keys that are missing.
struct GeneratorDefaults {
  int64_t hidden_channels;
  std::vector<int64_t> kernels, factors;
  const char* activation;
  const char* end;  // null: none
  bool final_bias;
};
GeneratorDefaults Plain() {
  return {1024, {16, 15, 8, 4, 4}, {6, 5, 2, 2, 2}, "leaky_relu", "tanh", true};
}
GeneratorDefaults Extended() {
  return {1536, {11, 4, 4, 4, 4, 4}, {5, 2, 2, 2, 2, 2}, "snakebeta", nullptr, false};
}
GeneratorDefaults Extension() {
  return {512, {12, 11, 4, 4, 4}, {6, 5, 2, 2, 2}, "snakebeta", nullptr, false};
}

// Reads the keys of one generator, which begin with `prefix`.
class GeneratorReader {
 public:
  GeneratorReader(ConfigReader& reader, const nlohmann::json& json, std::string prefix,
                  GeneratorDefaults defaults)
      : reader_(reader), json_(json), prefix_(std::move(prefix)), defaults_(std::move(defaults)) {}

  GeneratorConfig Read() {
    GeneratorConfig config;
    config.in_channels = Int("in_channels", config.in_channels, kChannels);
    config.hidden_channels = Int("hidden_channels", defaults_.hidden_channels, kChannels);
    config.out_channels = Int("out_channels", config.out_channels, {1, 16});
    config.final_bias = reader_.Bool(Key("final_bias").c_str(), defaults_.final_bias);
    config.negative_slope = reader_.Number(Key("leaky_relu_negative_slope").c_str(), 0.1);
    config.end = ReadEnd();
    ReadUpsamplings(config);
    ReadStacks(config);
    ReadActivation(config);
    return config;
  }

  std::string Key(const char* name) const { return prefix_ + name; }

 private:
  int64_t Int(const char* name, int64_t fallback, IntRange range) {
    return reader_.Int(Key(name).c_str(), fallback, range);
  }

  // Null is a value of this key: none.
  End ReadEnd() {
    const std::string key = Key("final_act_fn");
    const std::string fallback = defaults_.end == nullptr ? "" : defaults_.end;
    const std::string end = reader_.String(key.c_str(), fallback);
    const auto found = json_.find(key);
    if (found != json_.end() && found->is_null()) return End::kNone;
    if (end == "tanh") return End::kTanh;
    if (end == "clamp") return End::kClamp;
    if (!end.empty()) reader_.Fail(key, "must be tanh, clamp, or null");
    return End::kNone;
  }

  void ReadUpsamplings(GeneratorConfig& config) {
    const std::string key = Key("upsample_kernel_sizes"), factor_key = Key("upsample_factors");
    const auto kernels = reader_.Ints(key.c_str(), defaults_.kernels, kKernels);
    const auto factors = reader_.Ints(factor_key.c_str(), defaults_.factors, kKernels);
    if (kernels.empty() || kernels.size() != factors.size()) {
      return reader_.Fail(key, absl::StrCat("must have as many items as ", factor_key));
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int64_t over = kernels[i] - factors[i];
      if (over < 0 || over % 2 != 0) {
        return reader_.Fail(key, absl::StrCat("must exceed ", factor_key, " by an even number"));
      }
      config.upsamplings.push_back({kernels[i], factors[i]});
    }
    if (config.hidden_channels % (int64_t{1} << config.upsamplings.size()) != 0) {
      reader_.Fail(Key("hidden_channels"), "must be divisible by 2 for each upsampling");
    }
  }

  void ReadStacks(GeneratorConfig& config) {
    const std::string key = Key("resnet_kernel_sizes"), dilation_key = Key("resnet_dilations");
    const auto kernels = reader_.Ints(key.c_str(), {3, 7, 11}, kKernels);
    const auto dilations =
        reader_.IntLists(dilation_key.c_str(), {{1, 3, 5}, {1, 3, 5}, {1, 3, 5}}, kKernels);
    if (kernels.empty() || kernels.size() != dilations.size()) {
      return reader_.Fail(key, absl::StrCat("must have as many items as ", dilation_key));
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i] % 2 == 0) return reader_.Fail(key, "must be odd");
      config.stacks.push_back({kernels[i], dilations[i]});
    }
  }

  void ReadActivation(GeneratorConfig& config) {
    const std::string key = Key("act_fn"), antialias = Key("antialias");
    const std::string name = reader_.String(key.c_str(), defaults_.activation);
    const bool is_snake = name == "snakebeta";
    config.activation =
        is_snake ? GeneratorConfig::Activation::kSnake : GeneratorConfig::Activation::kLeakyRelu;
    if (!is_snake && name != "leaky_relu") reader_.Fail(key, "must be leaky_relu or snakebeta");
    const bool has_snake_default = std::string(defaults_.activation) == "snakebeta";
    if (reader_.Bool(antialias.c_str(), has_snake_default) != is_snake) {
      reader_.Fail(antialias,
                   is_snake ? "must be true with snakebeta" : "must be false with leaky_relu");
    }
    Int("antialias_ratio", 2, {2, 2});
    Int("antialias_kernel_size", 12, {12, 12});
  }

  ConfigReader& reader_;
  const nlohmann::json& json_;
  const std::string prefix_;
  const GeneratorDefaults defaults_;
};

ExtensionConfig ReadExtension(ConfigReader& reader, const nlohmann::json& json,
                              const VocoderConfig& vocoder) {
  ExtensionConfig config;
  GeneratorReader generator(reader, json, "bwe_", Extension());
  config.generator = generator.Read();
  config.filter_length = reader.Int("filter_length", config.filter_length, {2, 65536});
  config.hop_length = reader.Int("hop_length", config.hop_length, {1, 65536});
  config.num_bins = reader.Int("num_mel_channels", config.num_bins, kChannels);
  const int64_t window = reader.Int("window_length", 512, {2, 65536});
  const int64_t rate = reader.Int("output_sampling_rate", 48000, kRates);
  config.ratio = rate / vocoder.generator_rate;
  if (config.filter_length % 2 != 0) reader.Fail("filter_length", "must be even");
  if (window != config.filter_length) reader.Fail("window_length", "must be filter_length");
  if (config.hop_length > window) reader.Fail("hop_length", "must be at most window_length");
  if (config.ratio < 1 || rate % vocoder.generator_rate != 0) {
    reader.Fail("output_sampling_rate", "must be a multiple of input_sampling_rate");
  }
  const int64_t channels = vocoder.generator.out_channels;
  if (config.generator.out_channels != channels) {
    reader.Fail("bwe_out_channels", "must be out_channels");
  }
  if (config.generator.in_channels != channels * config.num_bins) {
    reader.Fail("bwe_in_channels", "must be out_channels times num_mel_channels");
  }
  if (config.generator.SamplesPerFrame() != config.hop_length * config.ratio) {
    reader.Fail("bwe_upsample_factors", "must make a hop's samples at output_sampling_rate");
  }
  return config;
}

}  // namespace

int64_t GeneratorConfig::SamplesPerFrame() const {
  int64_t samples = 1;
  for (const Upsampling& upsampling : upsamplings) samples *= upsampling.factor;
  return samples;
}

int64_t VocoderConfig::SampleRate() const {
  return generator_rate * (extension.has_value() ? extension->ratio : 1);
}

int64_t VocoderConfig::SamplesPerFrame() const {
  return generator.SamplesPerFrame() * (extension.has_value() ? extension->ratio : 1);
}

absl::StatusOr<VocoderConfig> ReadVocoderConfig(const nlohmann::json& json,
                                                const std::string& source) {
  ConfigReader reader(json, source);
  VocoderConfig config;
  const std::string name = reader.String("_class_name", "LTX2Vocoder");
  const bool is_extended = name == "LTX2VocoderWithBWE";
  if (!is_extended && name != "LTX2Vocoder") {
    reader.Fail("_class_name", "must be LTX2Vocoder or LTX2VocoderWithBWE");
  }
  config.generator = GeneratorReader(reader, json, "", is_extended ? Extended() : Plain()).Read();
  config.generator_rate = is_extended
                              ? reader.Int("input_sampling_rate", 16000, kRates)
                              : reader.Int("output_sampling_rate", config.generator_rate, kRates);
  REEL_RETURN_IF_ERROR(reader.status());
  if (is_extended) config.extension = ReadExtension(reader, json, config);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
