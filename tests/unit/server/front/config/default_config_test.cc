// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/default_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "reel/config/v1/config.pb.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

config::v1::ServerConfig Filled(const Flags& flags, const Surroundings& surroundings) {
  config::v1::ServerConfig config;
  EXPECT_THAT(ApplyFlags(flags, surroundings, config), IsEmpty());
  FillDefaults(surroundings, config);
  return config;
}

TEST(DefaultConfig, NothingGivenServesTheTestCardOnLoopback) {
  const auto config =
      Filled({}, {.xdg_state_home = "", .home = "/home/somebody", .models_folder = ""});
  EXPECT_EQ(config.listen(), "127.0.0.1:50051");
  EXPECT_EQ(config.metrics_listen(), "127.0.0.1:9464");
  EXPECT_EQ(config.data().folder(), "/home/somebody/.local/state/reel");
  ASSERT_EQ(config.models_size(), 1);
  EXPECT_EQ(config.models(0).name(), "testcard");
  EXPECT_TRUE(config.models(0).has_test_card());
  ASSERT_EQ(config.workers_size(), 1);
  EXPECT_EQ(config.workers(0).device(), "cpu");
  EXPECT_EQ(config.workers(0).name(), "cpu");
  EXPECT_EQ(config.workers(0).models(0), "testcard");
}

TEST(DefaultConfig, TheModelThatCameAlongIsServedBeforeTheTestCard) {
  const ::reel::testing::TempFolder models;
  std::filesystem::create_directory(models.File("ltx-demo"));
  models.Write("ltx-demo/model_index.json", "{}");
  const Surroundings surroundings = {
      .xdg_state_home = "", .home = "", .models_folder = models.path()};
  const auto config = Filled({}, surroundings);
  ASSERT_EQ(config.models_size(), 2);
  EXPECT_EQ(config.models(0).name(), "ltx-demo");
  EXPECT_EQ(config.models(0).path(), models.path() + "/ltx-demo");
  EXPECT_EQ(config.models(0).dtype(), "fp32");
  EXPECT_EQ(config.models(0).manifest_file(), "");
  EXPECT_TRUE(config.models(1).has_test_card());
  EXPECT_THAT(config.workers(0).models(), ::testing::ElementsAre("ltx-demo", "testcard"));

  Flags flags;
  flags.model = "ltx-demo";
  EXPECT_EQ(Filled(flags, surroundings).models_size(), 1);
  models.Write("ltx-demo/SHA256SUMS", "");
  EXPECT_EQ(Filled(flags, surroundings).models(0).manifest_file(),
            models.path() + "/ltx-demo/SHA256SUMS");
  flags.model = "testcard";
  EXPECT_EQ(Filled(flags, surroundings).models(0).name(), "testcard");

  // The one with sound is served beside it.
  std::filesystem::create_directory(models.File("ltx2-demo"));
  models.Write("ltx2-demo/model_index.json", "{}");
  EXPECT_THAT(Filled({}, surroundings).workers(0).models(),
              ::testing::ElementsAre("ltx-demo", "ltx2-demo", "testcard"));
}

TEST(DefaultConfig, TheStateFolderOfTheUserWins) {
  EXPECT_EQ(Filled({}, {.xdg_state_home = "/state", .home = "/home/x", .models_folder = ""})
                .data()
                .folder(),
            "/state/reel");
}

TEST(DefaultConfig, WaitsForBalancersOnlyBeyondLoopback) {
  EXPECT_EQ(Filled({}, {}).timing().propagation().seconds(), 0);
  Flags flags;
  flags.listen = "0.0.0.0:1";
  EXPECT_EQ(Filled(flags, {}).timing().propagation().seconds(), 5);
}

TEST(DefaultConfig, TheDefaultTimeoutStaysBelowTheLongest) {
  config::v1::ServerConfig config;
  config.mutable_timing()->mutable_max_timeout()->set_seconds(60);
  FillDefaults({}, config);
  EXPECT_EQ(config.timing().default_timeout().seconds(), 60);
}

TEST(ApplyFlags, WinsOverTheFile) {
  config::v1::ServerConfig config;
  config.set_listen("127.0.0.1:1");
  config.add_workers()->set_device("cpu");
  Flags flags;
  flags.listen = "127.0.0.1:2";
  flags.metrics = "127.0.0.1:3";
  flags.data_dir = "/d";
  flags.devices = "cuda:0,cuda:1,cuda:2+cuda:3,cuda:4+cuda:5+cuda:6+cuda:7";
  flags.log = "debug";
  EXPECT_THAT(ApplyFlags(flags, {}, config), IsEmpty());
  EXPECT_EQ(config.listen(), "127.0.0.1:2");
  EXPECT_EQ(config.metrics_listen(), "127.0.0.1:3");
  EXPECT_EQ(config.data().folder(), "/d");
  EXPECT_EQ(config.telemetry().log_level(), "debug");
  ASSERT_EQ(config.workers_size(), 4);
  FillDefaults({}, config);
  EXPECT_EQ(config.workers(1).name(), "cuda1");
  EXPECT_EQ(config.workers(2).name(), "cuda2-cuda3");
  EXPECT_EQ(config.workers(3).name(), "cuda4-cuda5-cuda6-cuda7");
}

TEST(ApplyFlags, AConfiguredModelBecomesTheDefault) {
  config::v1::ServerConfig config;
  config.add_models()->set_name("a");
  config.add_models()->set_name("b");
  config.add_models()->set_name("c");
  Flags flags;
  flags.model = "c";
  EXPECT_THAT(ApplyFlags(flags, {}, config), IsEmpty());
  ASSERT_EQ(config.models_size(), 3);
  EXPECT_EQ(config.models(0).name(), "c");
  EXPECT_EQ(config.models(1).name(), "a");
}

TEST(ApplyFlags, APathIsServedUnderItsOwnName) {
  config::v1::ServerConfig config;
  Flags flags;
  flags.model = "/models/LTX-Video 2B/";
  EXPECT_THAT(ApplyFlags(flags, {}, config), IsEmpty());
  EXPECT_EQ(config.models(0).name(), "ltx-video2b");
  EXPECT_EQ(config.models(0).path(), "/models/LTX-Video 2B/");
  config.Clear();
  flags.model = "/models/ltx.0.9.safetensors";
  EXPECT_THAT(ApplyFlags(flags, {}, config), IsEmpty());
  EXPECT_EQ(config.models(0).name(), "ltx.0.9");
}

TEST(ApplyFlags, AnUnknownModelNamesTheNearest) {
  config::v1::ServerConfig config;
  Flags flags;
  flags.model = "tescard";
  EXPECT_THAT(ApplyFlags(flags, {}, config), ::testing::ElementsAre(HasSubstr("'testcard'")));
}

TEST(DefaultConfig, AllGpusAreAWorkerEach) {
  const Surroundings surroundings = {.xdg_state_home = "", .home = "", .visible_gpus = 3};
  Flags flags;
  flags.devices = "cuda:all,cpu";
  const auto config = Filled(flags, surroundings);
  ASSERT_EQ(config.workers_size(), 4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(config.workers(i).device(), "cuda:" + std::to_string(i));
    EXPECT_EQ(config.workers(i).name(), "cuda" + std::to_string(i));
  }
  EXPECT_EQ(config.workers(3).device(), "cpu");

  config::v1::ServerConfig named;
  auto& worker = *named.add_workers();
  worker.set_name("gpu");
  worker.set_device("cuda:all");
  worker.set_memory_bytes(1 << 30);
  FillDefaults(surroundings, named);
  ASSERT_EQ(named.workers_size(), 3);
  EXPECT_EQ(named.workers(2).name(), "gpu2");
  EXPECT_EQ(named.workers(2).memory_bytes(), 1 << 30);
}

TEST(DefaultConfig, WithoutWorkersAllGpusRenderWhereThereAreKernelsForThem) {
  const ::reel::testing::TempFolder folder;
  const std::string kernels = folder.File("kernels.so");
  std::ofstream(kernels) << "of a build with CUDA";
  const auto first_device = [](const std::string& library, int gpus) {
    const auto config = Filled(
        Flags(), {.xdg_state_home = "", .home = "", .cuda_library = library, .visible_gpus = gpus});
    EXPECT_EQ(config.workers_size(), std::max(1, library.empty() ? 0 : gpus));
    return config.workers(0).device();
  };
  EXPECT_EQ(first_device(kernels, 2), "cuda:0");
  EXPECT_EQ(first_device(kernels, 0), "cpu");
  EXPECT_EQ(first_device("", 2), "cpu");
}

TEST(DefaultConfig, AllGpusOfAMachineWithoutAreRefusedAsTheyStand) {
  Flags flags;
  flags.devices = "cuda:all";
  const auto config = Filled(flags, {.xdg_state_home = "", .home = ""});
  ASSERT_EQ(config.workers_size(), 1);
  EXPECT_EQ(config.workers(0).device(), "cuda:all");
}

TEST(DefaultConfig, AGpuByUuidHasAShortName) {
  Flags flags;
  flags.devices =
      "GPU-8932F937-d72c-4106-c12f-20bd9faed9f6,MIG-3eb87630-93d5-b2b6-b8ff-9b359caf4ee2,"
      "GPU-5a1e0c44-0b6d+GPU-11111111-0b6d,cuda:0+cuda:1";
  const auto config = Filled(flags, {.xdg_state_home = "", .home = ""});
  ASSERT_EQ(config.workers_size(), 4);
  EXPECT_EQ(config.workers(0).name(), "gpu-8932f937");
  EXPECT_EQ(config.workers(1).name(), "mig-3eb87630");
  EXPECT_EQ(config.workers(2).name(), "gpu-5a1e0c44-gpu-11111111");
  EXPECT_EQ(config.workers(3).name(), "cuda0-cuda1");
}

}  // namespace
}  // namespace reel::front
