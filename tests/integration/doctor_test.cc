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
