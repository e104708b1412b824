// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/server_service.h"

#include <gtest/gtest.h>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

WorkerInfo Worker(const std::string& name, bool runs) {
  WorkerInfo worker;
  worker.name = name;
  worker.device = "cpu";
  worker.state = WorkerState::kReady;
  worker.restarts = 2;
  worker.models = {"m"};
  worker.kernels = {{"rms_norm", {{"loops", "built-in", runs, true, runs ? "" : "too old"}}}};
  return worker;
}

TEST(ServerService, TellsWhatRuns) {
  RpcServer server;
  server.jobs.SetWorkers({Worker("cpu", true)});
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server.server().GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  EXPECT_EQ(info.version(), "1.2.3");
  EXPECT_EQ(info.revision(), "abc");
  EXPECT_FALSE(info.draining());
  EXPECT_EQ(info.replica(), "lab");
  ASSERT_EQ(info.workers_size(), 1);
  EXPECT_EQ(info.workers(0).state(), v1::WORKER_STATE_READY);
  EXPECT_EQ(info.workers(0).running(), 1);
  EXPECT_EQ(info.workers(0).restarts(), 2);
  EXPECT_EQ(info.limits().max_prompt_bytes(), 8192);
  EXPECT_EQ(info.limits().max_jobs_per_tenant(), 3);
  EXPECT_EQ(info.limits().max_timeout().seconds(), 1800);
  EXPECT_EQ(info.limits().max_media_chunk_bytes(), 262'144);
  EXPECT_EQ(info.kernel_profiles_size(), 3);
  ASSERT_EQ(info.lossy_kernel_profiles_size(), 1);
  EXPECT_EQ(info.lossy_kernel_profiles(0), "fp8");
}

TEST(ServerService, ListsModelsDefaultFirst) {
  RpcServer server;
  ServedModel a, b;
  a.card.name = "a";
  a.is_default = a.ready = true;
  b.card.name = "b";
  server.jobs.SetModels({a, b});
  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(server.server().ListModels(&context, v1::ListModelsRequest(), &models).ok());
  ASSERT_EQ(models.models_size(), 2);
  EXPECT_TRUE(models.models(0).is_default());
  EXPECT_TRUE(models.models(0).ready());
  EXPECT_FALSE(models.models(1).ready());
}

TEST(ServerService, TellsWhatBecameOfEachModel) {
  RpcServer server;
  ServedModel good, bad;
  good.card.name = "good";
  good.card.weight_bytes = 12;
  good.card.weights_sha256 = "abc";
  good.state = ModelState::kReplacing;
  bad.card.name = "bad";
  bad.state = ModelState::kFailed;
  bad.problem = "no weights";
  server.jobs.SetModels({good, bad});
  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(server.server().ListModels(&context, v1::ListModelsRequest(), &models).ok());
  EXPECT_EQ(models.models(0).state(), v1::MODEL_STATE_REPLACING);
  EXPECT_EQ(models.models(0).weight_bytes(), 12);
  EXPECT_EQ(models.models(0).weights_sha256(), "abc");
  EXPECT_EQ(models.models(1).state(), v1::MODEL_STATE_FAILED);
  EXPECT_EQ(models.models(1).problem(), "no weights");
}

TEST(ServerService, LoadsAndUnloadsModels) {
  RpcServer server;
  v1::LoadModelRequest load;
  load.set_model("m");
  v1::LoadModelResponse loaded;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.server().LoadModel(&context, load, &loaded).ok());
  }
  EXPECT_EQ(loaded.model().name(), "m");
  EXPECT_EQ(loaded.model().state(), v1::MODEL_STATE_LOADING);
  v1::UnloadModelRequest unload;
  unload.set_model("m");
  v1::UnloadModelResponse unloaded;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.server().UnloadModel(&context, unload, &unloaded).ok());
  }
  EXPECT_EQ(unloaded.model().state(), v1::MODEL_STATE_UNLOADED);
  server.jobs.Refuse(MakeError(Reason::kModelNotFound, "no such model"));
  grpc::ClientContext context;
  EXPECT_EQ(server.server().LoadModel(&context, load, &loaded).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(ServerService, PutsAWorkerBackAndSaysWhyItWasOut) {
  RpcServer server;
  v1::RestoreWorkerRequest request;
  request.set_worker("gpu0");
  v1::RestoreWorkerResponse restored;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.server().RestoreWorker(&context, request, &restored).ok());
  }
  EXPECT_EQ(restored.worker().name(), "gpu0");
  EXPECT_EQ(restored.worker().state(), v1::WORKER_STATE_OUT);
  EXPECT_NE(restored.worker().out_reason(), "");
  server.jobs.Refuse(MakeError(Reason::kWorkerNotFound, "no such worker"));
  grpc::ClientContext context;
  EXPECT_EQ(server.server().RestoreWorker(&context, request, &restored).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(ServerService, ShowsAVariantOnceWithEveryWorkersSupport) {
  RpcServer server;
  server.jobs.SetWorkers({Worker("a", true), Worker("b", false)});
  grpc::ClientContext context;
  v1::ListKernelsResponse kernels;
  ASSERT_TRUE(server.server().ListKernels(&context, v1::ListKernelsRequest(), &kernels).ok());
  ASSERT_EQ(kernels.ops_size(), 1);
  ASSERT_EQ(kernels.ops(0).variants_size(), 1);
  const auto& variant = kernels.ops(0).variants(0);
  ASSERT_EQ(variant.support_size(), 2);
  EXPECT_EQ(variant.support(0).worker(), "a");
  EXPECT_TRUE(variant.support(0).runs());
  EXPECT_FALSE(variant.support(1).runs());
  EXPECT_EQ(variant.support(1).reason(), "too old");
}

TEST(ServerService, ShowsAPluginOnceWithWhatBecameOfItOnEveryWorker) {
  RpcServer server;
  WorkerInfo a = Worker("a", true), b = Worker("b", true);
  a.plugins = {{.name = "mine", .loaded = true, .reason = "", .id = "_mine_1"}};
  b.plugins = {{.name = "mine", .loaded = false, .reason = "it is for the CPU", .id = ""}};
  server.jobs.SetWorkers({a, b});
  grpc::ClientContext context;
  v1::ListKernelsResponse kernels;
  ASSERT_TRUE(server.server().ListKernels(&context, v1::ListKernelsRequest(), &kernels).ok());
  ASSERT_EQ(kernels.plugins_size(), 1);
  EXPECT_EQ(kernels.plugins(0).name(), "mine");
  ASSERT_EQ(kernels.plugins(0).support_size(), 2);
  EXPECT_TRUE(kernels.plugins(0).support(0).loaded());
  EXPECT_EQ(kernels.plugins(0).support(0).id(), "_mine_1");
  EXPECT_EQ(kernels.plugins(0).support(1).worker(), "b");
  EXPECT_EQ(kernels.plugins(0).support(1).reason(), "it is for the CPU");
}

}  // namespace
}  // namespace reel::front
