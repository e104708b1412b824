// SPDX-License-Identifier: Apache-2.0
// Errors of a model are reported before a server starts. A server that could not load it reports
// them in the same words everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr int kGood = 0, kInvalid = 3, kUsage = 2, kUnavailable = 4;

class Weights : public ::testing::Test {
 protected:
  // A copy of the demo's, to be damaged.
  std::string Copy(const std::string& name) const {
    const std::string path = folder_.File(name);
    fs::copy(std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights", path,
             fs::copy_options::recursive);
    return path;
  }
  static ProgramResult Doctor(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "doctor");
    return RunProgram(BinaryPath("reel"), flags);
  }
  const testing::TempFolder folder_;
};

TEST_F(Weights, AreCheckedWithoutAServer) {
  const std::string path = Copy("good");
  const ProgramResult found = Doctor({"--model", path, "--manifest", path + "/SHA256SUMS"});
  EXPECT_EQ(found.status, kGood) << found.out << found.errors;
  EXPECT_THAT(found.out, AllOf(HasSubstr("ok       model: LTX-Video"), HasSubstr(" MB as fp32")));
  std::cout << "FIGURE a look at ltx-demo: " << found.took << "\n";
  EXPECT_THAT(Doctor({"--model", path, "--dtype", "bf16"}).out, HasSubstr("as bf16"));
  EXPECT_EQ(Doctor({"--model", path, "--dtype", "int8"}).status, kUsage);
}

TEST_F(Weights, ThatAreNoneAreToldWithWhatToDo) {
  const auto problem = [](const std::string& path) {
    const ProgramResult found = Doctor({"--model", path});
    EXPECT_EQ(found.status, kInvalid) << found.out << found.errors;
    return found.out;
  };
  EXPECT_THAT(problem("/nowhere/model"), AllOf(HasSubstr("does not exist"), HasSubstr("folder")));
  const std::string no_vae = Copy("no_vae");
  fs::remove_all(no_vae + "/vae");
  EXPECT_THAT(problem(no_vae), AllOf(HasSubstr("vae/config.json"), HasSubstr("fetch it whole")));
  const std::string other = Copy("other");
  std::ofstream(other + "/model_index.json") << R"({"_class_name": "WanPipeline"})";
  EXPECT_THAT(problem(other), AllOf(HasSubstr("WanPipeline"), HasSubstr("reads LTX-Video")));
  const std::string cut = Copy("cut");
  const std::string file = cut + "/transformer/diffusion_pytorch_model.safetensors";
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_THAT(problem(cut), AllOf(HasSubstr(file), HasSubstr("sha256sum")));
}

TEST_F(Weights, OfNumbersThatAreNoWeightsAreRefused) {
  const std::string path = Copy("integers");
  const std::string file = path + "/transformer/diffusion_pytorch_model.safetensors";
  std::ifstream in(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  // As many bytes each: the file is sound but for the blank that makes up for the shorter name.
  const std::string from = R"("dtype":"BF16")";
  const size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, from.size(), R"("dtype": "I16")");
  std::ofstream(file, std::ios::binary) << bytes;
  const ProgramResult found = Doctor({"--model", path});
  EXPECT_EQ(found.status, kInvalid);
  EXPECT_THAT(found.out, AllOf(HasSubstr("not a type of network weights"), HasSubstr(file)));
}

// Folders of the released configurations, without weights: sizes are those of the shapes.
class ReleasedShapes : public Weights {
 protected:
  std::string Folder(const std::string& transformer) const {
    const fs::path golden = std::string(std::getenv("REEL_SOURCE")) + "/tests/golden";
    const fs::path path = folder_.File(transformer);
    fs::create_directory(path);
    fs::copy(golden / "models/0.9.5/scheduler", path / "scheduler");
    fs::copy(golden / "models/0.9.5/model_index.json", path);
    fs::copy(golden / "tokenizer", path / "tokenizer");
    Write(path / "transformer",
          ConfigIn(golden / ("layouts/transformer-" + transformer + ".json")));
    Write(path / "vae", ConfigIn(golden / "layouts/vae-0.9.5.json"));
    Write(path / "text_encoder",
          R"({"vocab_size": 32128, "d_model": 4096, "d_kv": 64, "d_ff": 10240, "num_heads": 64,)"
          R"( "num_layers": 24, "feed_forward_proj": "gated-gelu"})");
    return path.string();
  }
  static ProgramResult DoctorOf(const std::string& path, const char* device_memory,
                                const char* form = "16", const char* text_form = "16") {
    return Doctor({"--model", path, "--random-weights", "1", "--device-memory", device_memory,
                   "--weights-form", form, "--text-form", text_form});
  }

 private:
  // The value of the first key: {"config":{...},"shapes":...
  static std::string ConfigIn(const fs::path& layout) {
    std::ifstream in(layout);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const size_t begin = text.find(':') + 1;
    return text.substr(begin, text.find(",\"shapes\"") - begin);
  }
  static void Write(const fs::path& folder, const std::string& config) {
    fs::create_directory(folder);
    std::ofstream(folder / "config.json") << config;
  }
};

TEST_F(ReleasedShapes, AreFittedToADeviceWithoutOne) {
  const std::string small = Folder("2b"), large = Folder("13b");
  const std::string whole = DoctorOf(small, "24GB").out;
  EXPECT_THAT(whole, AllOf(HasSubstr("ok       memory: 24GB: of 22.2 GB that can be used weights "
                                     "take 15.9 GB, the default video 2.0 GB\n"),
                           HasSubstr("text encoder: 9.5 GB on the device\n"),
                           HasSubstr("transformer: 3.8 GB on the device\n"),
                           HasSubstr("autoencoders: 2.5 GB on the device\n")));
  EXPECT_THAT(DoctorOf(small, "12GB").out,
              AllOf(HasSubstr("9.5 GB on the host\n"), HasSubstr("a new text copies 9.3 GB"),
                    HasSubstr("transformer: 3.8 GB on the device\n")));
  const ProgramResult streamed = DoctorOf(large, "24GB");
  EXPECT_EQ(streamed.status, kGood);
  EXPECT_THAT(
      streamed.out,
      AllOf(HasSubstr("model: LTX-Video 0.9.5, random weights, 38 GB as bf16"),
            HasSubstr("each step copies 9.4 GB to the device"), HasSubstr("20 of 48 blocks\n")));
  const ProgramResult halved = DoctorOf(large, "24GB", "e4m3");
  EXPECT_EQ(halved.status, kGood);
  EXPECT_THAT(halved.out, Not(HasSubstr("each step copies")));
  // Of the text encoder's 9.5 GB only the table of words stays as it was.
  EXPECT_THAT(DoctorOf(small, "24GB", "16", "e4m3").out,
              HasSubstr("text encoder: 4.9 GB on the device\n"));
  const ProgramResult refused = DoctorOf(large, "6GB");
  EXPECT_EQ(refused.status, kInvalid);
  EXPECT_THAT(refused.out, AllOf(HasSubstr("the model does not fit: of 6.0 GB 5.1 can be used"),
                                 HasSubstr("Take a device with more memory")));
}

// The folder is the one that benchmarks take.
TEST_F(Weights, OfLtx25InFullSizeAreFittedWithTheirTextEncoder) {
  const std::string path = folder_.File("ltx25");
  const std::string script =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/bench/ltx2/random_folder.py";
  const ProgramResult made =
      RunProgram("/usr/bin/env", {"python3", script, path, "--version", "2.5", "--distilled"});
  ASSERT_EQ(made.status, 0) << made.errors;
  const auto found = [&path](const char* form) {
    return Doctor({"--model", path, "--random-weights", "1", "--device-memory", "80GB", "--dtype",
                   "bf16", "--text-form", form})
        .out;
  };
  EXPECT_THAT(found("16"), AllOf(HasSubstr("model: LTX-2.5, random weights, 71 GB as bf16\n"),
                                 HasSubstr("text encoder: 23.8 GB on the device\n")));
  EXPECT_THAT(found("e4m3"), HasSubstr("text encoder: 12.9 GB on the device\n"));
}

// ListModels, `reel doctor` with and without a server, readiness and the log.
TEST_F(Weights, ThatAServerCannotLoadAreToldInTheSameWordsEverywhere) {
  const std::string path = Copy("broken");
  fs::remove(path + "/vae/config.json");
  ServerSetup setup;
  setup.config = absl::StrCat("models { name: 'demo' path: '", path, "' }");
  setup.wait_ready = false;
  ReelServer server(setup);
  Calls calls(server.Connect());
  std::string problem;
  ASSERT_TRUE(Eventually([&] {
    v1::ListModelsResponse models;
    grpc::ClientContext context;
    calls.server().ListModels(&context, {}, &models);
    if (models.models_size() == 1) problem = models.models(0).problem();
    return !problem.empty();
  }));
  EXPECT_THAT(problem, HasSubstr("vae/config.json"));
  const ProgramResult asked = Doctor({"--server", server.address()});
  EXPECT_EQ(asked.status, kUnavailable) << asked.errors;
  EXPECT_THAT(asked.out, AllOf(HasSubstr("demo failed"), HasSubstr("model demo: " + problem),
                               HasSubstr("reel doctor --model")));
  EXPECT_THAT(Doctor({"--model", path}).out, HasSubstr("model: " + problem + "\n"));
  EXPECT_THAT(server.Log(), HasSubstr(problem));
  httplib::Client probe("http://" + server.metrics_address());
  const auto ready = probe.Get("/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 503);
  EXPECT_EQ(ready->body, "not ready\nmodel demo: " + problem + "\n");
}

}  // namespace
}  // namespace reel::tests
