// SPDX-License-Identifier: Apache-2.0
// Models come and go while the server runs, by calls and by its configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder that looks like a model and holds none.
std::string BrokenFolder(const testing::TempFolder& folder, const std::string& name) {
  const std::string path = folder.File(name);
  std::filesystem::create_directories(path);
  std::ofstream(path + "/model_index.json") << R"({"_class_name": "LTXPipeline"})";
  return path;
}

std::string CardAt(const std::string& path) {
  return absl::StrCat("models { name: 'testcard' path: '", path, "' }");
}

TEST(Models, AreReplacedUnderLoadAndNoRequestFails) {
  const testing::TempFolder folder;
  const std::string file =
      folder.Write("broken.safetensors", std::string("\x08\0\0\0\0\0\0\0{", 9));
  ReelServer server({SlowConfig(2), {}, "", true});
  ModelCalls models(server);
  SteadyCallers callers(server, 4, SmallSpec("fox"));
  int replaced = 0, refused = 0;
  for (int round = 0; round < 4; ++round) {
    // Each differs from what serves, so that it is loaded.
    for (const std::string& bad :
         {CardAt(BrokenFolder(folder, absl::StrCat("folder", round))), CardAt(file),
          FaultyConfig("nan", 1, ""), FaultyConfig("oom", 1, "")}) {
      server.Reconfigure(bad);
      ASSERT_TRUE(models.AwaitProblem("testcard")) << bad << server.Log();
      ++refused;
      server.Reconfigure(SlowConfig(2 + round + refused % 2));
      ASSERT_TRUE(Eventually([&] {
        const v1::Model model = models.Get("testcard");
        return model.state() == v1::MODEL_STATE_READY && model.problem().empty();
      }));
      ++replaced;
      EXPECT_TRUE(callers.AwaitMore(4));
    }
  }
  callers.Stop();
  EXPECT_EQ(callers.failed(), 0);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
  std::cout << "FIGURE " << replaced << " models replaced and " << refused
            << " broken ones refused under load: " << callers.failed() << " of " << callers.asked()
            << " requests failed\n";
}

TEST(Models, ABrokenReplacementIsToldInTheListAndInTheLog) {
  ReelServer server;
  ModelCalls models(server);
  server.Reconfigure(FaultyConfig("nan", 1, ""));
  ASSERT_TRUE(models.AwaitProblem("testcard"));
  EXPECT_THAT(models.Get("testcard").problem(), HasSubstr("not finite"));
  EXPECT_THAT(server.Log(),
              AllOf(HasSubstr("A model could not be loaded"), HasSubstr("not finite")));
  const ProgramResult shown =
      RunProgram(BinaryPath("reel"), {"--server", server.address(), "models"});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("STATE"), HasSubstr("ready"), HasSubstr("not finite")));
}

TEST(Models, AVideoIsMadeToItsEndByTheModelThatItBeganWith) {
  ReelServer server({SlowConfig(20), {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("zebra");
  request.mutable_spec()->set_num_inference_steps(60);
  bool changed = false;
  const StreamResult old = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (changed || event.progress().step() < 2) return true;
    changed = true;
    server.Reconfigure(FaultyConfig("nan", 1, "zebra"));
    EXPECT_TRUE(Eventually(
        [&] { return server.Log().find("loaded beside the others") != std::string::npos; }));
    return true;
  });
  EXPECT_TRUE(changed);
  EXPECT_TRUE(old.is_finished) << old.status.error_message();
  EXPECT_EQ(calls.Generate(SmallSpec("zebra")).reason(), "NUMERICAL_FAULT");
}

TEST(Models, WhatWaitsForOneThatIsUnloadedEndsAndWhatRunsIsFinished) {
  ReelServer server({SlowConfig(20) + "scheduler { order: 'fifo' }", {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("fox");
  spec.set_num_inference_steps(50);
  const std::string runs = calls.Create(spec).name();
  ASSERT_TRUE(Eventually([&] { return calls.Get(runs).progress().step() > 0; }));
  const std::string waits = calls.Create(spec).name();
  ASSERT_TRUE(models.Unload("testcard").ok());
  const v1::Video ended = calls.Await(waits);
  EXPECT_EQ(ended.state(), v1::VIDEO_STATE_FAILED);
  EXPECT_THAT(ended.error().message(), HasSubstr("taken out of service"));
  EXPECT_EQ(calls.Await(runs).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(calls.Generate(SmallSpec("fox")).reason(), "MODEL_UNLOADED");
  EXPECT_EQ(models.Get("testcard").state(), v1::MODEL_STATE_UNLOADED);
  ASSERT_TRUE(models.Load("testcard").ok());
  ASSERT_TRUE(models.Await("testcard", v1::MODEL_STATE_READY));
  EXPECT_TRUE(calls.Generate(SmallSpec("fox")).status.ok());
}

TEST(Models, AConfigurationThatIsReadAgainBringsAndTakesThem) {
  ReelServer server;
  ModelCalls models(server);
  Calls calls(server.Connect());
  const std::string first = "models { name: 'testcard' test_card {} }\n";
  v1::VideoSpec spec = SmallSpec("fox");
  spec.set_model("second");
  EXPECT_EQ(calls.Generate(spec).reason(), "MODEL_NOT_FOUND");
  server.Reconfigure(first + "models { name: 'second' test_card {} }");
  ASSERT_TRUE(models.Await("second", v1::MODEL_STATE_READY));
  EXPECT_TRUE(calls.Generate(spec).status.ok());
  server.Reconfigure("models { name: 'second' tset_card {} }");
  ASSERT_TRUE(Eventually(
      [&] { return server.Log().find("models stay as they are") != std::string::npos; }));
  EXPECT_TRUE(calls.Generate(spec).status.ok()) << "a bad configuration changes nothing";
  server.Reconfigure(first);
  EXPECT_TRUE(Eventually([&] { return models.Get("second").name().empty(); }));
  EXPECT_EQ(calls.Generate(spec).reason(), "MODEL_NOT_FOUND");
  EXPECT_TRUE(calls.Generate(SmallSpec("fox")).status.ok());
}

TEST(Models, AWorkerThatIsKilledInALoadServesWhatItHad) {
  ReelServer server;
  ModelCalls models(server);
  Calls calls(server.Connect());
  server.Reconfigure("models { name: 'testcard' test_card { load_time { seconds: 600 } } }");
  ASSERT_TRUE(models.Await("testcard", v1::MODEL_STATE_REPLACING));
  EXPECT_TRUE(calls.Generate(SmallSpec("fox")).status.ok());
  ASSERT_EQ(server.Children().size(), 1u);
  ::kill(server.Children()[0], SIGKILL);
  ASSERT_TRUE(models.AwaitProblem("testcard"));
  EXPECT_THAT(models.Get("testcard").problem(), HasSubstr("worker was lost"));
  EXPECT_TRUE(calls.Generate(SmallSpec("fox")).status.ok());
}

}  // namespace
}  // namespace reel::tests
