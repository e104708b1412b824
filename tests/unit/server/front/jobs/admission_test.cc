// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : roster_(options_), admission_(options_, roster_, costs_) {
    roster_.SetServed({"card", "late"});
    request_.tenant = "t";
    request_.spec.prompt = "a fox";
  }
  void AddWorker(const std::string& name, bool can_sm90 = false) {
    WorkerInfo info;
    info.name = name;
    info.state = WorkerState::kReady;
    info.kernels = {
        {"rms_norm",
         {{"fast", "built-in", true, true, ""}, {"sm90", "built-in", can_sm90, false, "too old"}}}};
    roster_.Update(info);
    roster_.SetCard(TestCard());
    roster_.SetLoaded(name, TestCard());
  }
  absl::StatusOr<CheckedRequest> Check() { return admission_.CheckRequest(request_, 7); }
  absl::Status CheckLoad(const Load& load) {
    auto checked = Check();
    EXPECT_TRUE(checked.ok()) << checked.status();
    return admission_.CheckLoad(request_, *checked, load, quarantine_, absl::ZeroDuration(), 1);
  }
  Load Idle() {
    Load load;
    load.disk.limit_bytes = 100;
    return load;
  }
  // Steps of a second each.
  void Observe() {
    const WorkShape shape = Check()->need.shape;
    const SeenStep step = StepOf(shape, shape.passes.back());
    for (int i = 0; i < 20; ++i) costs_.LearnStep(step, absl::Seconds(1));
  }

  JobOptions options_;
  CostModel costs_;
  WorkerRoster roster_;
  Admission admission_;
  Quarantine quarantine_;
  NewJob request_;
};

TEST_F(AdmissionTest, ListsAllViolationsAtOnceWithTheirPaths) {
  AddWorker("w0");
  request_.spec.width = 100;
  request_.spec.num_frames = 10;
  request_.spec.worker = "nobody";
  request_.timeout = absl::Hours(5);
  request_.spec.kernels.profile = "turbo";
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kInvalidSpec);
  const std::string details = SerializeError(status);
  for (const char* path :
       {"spec.width", "spec.num_frames", "spec.worker", "timeout", "spec.kernels"}) {
    EXPECT_THAT(details, HasSubstr(path));
  }
}

TEST_F(AdmissionTest, NamesTheModelsThatAreServed) {
  AddWorker("w0");
  request_.spec.model = "dall-e";
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kModelNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("card, late"));
}

TEST_F(AdmissionTest, TakesTheDefaultModel) {
  AddWorker("w0");
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->spec.model, "card");
  EXPECT_EQ(*checked->spec.seed, 7u);
}

TEST_F(AdmissionTest, AModelWithoutACardIsNotReadyYet) {
  AddWorker("w0");
  request_.spec.model = "late";
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kModelNotReady);
  EXPECT_TRUE(RetryAfterOf(Check().status()).has_value());
  roster_.SetFailed("w0", {"late", absl::DataLossError("bad hash")});
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("bad hash"));
  // Rules that need no card come first.
  request_.spec.prompt = std::string(9000, 'x');
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kInvalidSpec);
}

TEST_F(AdmissionTest, ChecksTimeouts) {
  AddWorker("w0");
  EXPECT_EQ(Check()->timeout, absl::Minutes(10));
  options_.max_timeout = absl::Minutes(5);
  EXPECT_EQ(Check()->timeout, absl::Minutes(5));
  for (absl::Duration wrong : {absl::Minutes(6), absl::ZeroDuration(), absl::Seconds(-1)}) {
    request_.timeout = wrong;
    EXPECT_EQ(ReasonOf(Check().status()), Reason::kInvalidRequest) << wrong;
  }
}

TEST_F(AdmissionTest, TellsUnknownKernelsFromUnavailableOnes) {
  AddWorker("w0");
  request_.spec.kernels.variants = {{"rms_norm", "warp"}};
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kUnknownKernel);
  request_.spec.kernels.variants = {{"rms_norm", "sm90"}};
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kKernelUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("too old"));
  // One worker that can is enough.
  AddWorker("w1", true);
  EXPECT_TRUE(Check().ok());
  request_.spec.worker = "w0";
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kKernelUnavailable);
}

TEST_F(AdmissionTest, RefusesAVariantThatDoesNotComputeInTheModelsType) {
  AddWorker("w0");
  WorkerInfo info = roster_.workers().at("w0").info;
  info.kernels[0].variants[0].dtypes = {"bf16", "fp16"};
  info.kernels[0].variants.push_back({"loops", "built-in", true, false, "", {"fp32", "bf16"}});
  roster_.Update(info);
  model::ModelCard card = TestCard();
  card.calls = {{"rms_norm", "fp32", 64}};
  roster_.SetLoaded("w0", card);
  request_.spec.kernels.variants = {{"rms_norm", "fast"}};
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kKernelUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("fp32"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("these can: loops"));
  request_.spec.kernels.variants = {{"rms_norm", "loops"}};
  EXPECT_TRUE(Check().ok());
  // A worker that has the model in another type can take it.
  request_.spec.kernels.variants = {{"rms_norm", "fast"}};
  info.name = "w1";
  card.calls = {{"rms_norm", "bf16", 64}};
  roster_.Update(info);
  roster_.SetLoaded("w1", card);
  EXPECT_TRUE(Check().ok());
}

TEST_F(AdmissionTest, AWorkerWithoutTheModelMakesNoPlanLegal) {
  AddWorker("w0");
  WorkerInfo other = roster_.workers().at("w0").info;
  other.name = "w1";
  other.kernels[0].variants[1].runs = true;  // sm90, which w0 has not
  roster_.Update(other);
  request_.spec.kernels.variants = {{"rms_norm", "sm90"}};
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kKernelUnavailable);
}

TEST_F(AdmissionTest, RefusesAConditionThatIsOnlyDescribed) {
  AddWorker("w0");
  model::ModelCard card = TestCard();
  card.supports_conditions = true;
  roster_.SetCard(card);
  model::Condition condition;
  condition.content_type = "image/png";
  condition.size_bytes = 1234;
  request_.spec.conditions = {condition};
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kInvalidSpec);
  EXPECT_THAT(SerializeError(status), HasSubstr("spec.conditions[0].image"));
  request_.only_quoted = true;
  EXPECT_EQ(Check().value().condition_bytes, 1234);
  request_.only_quoted = false;
  request_.spec.conditions[0].bytes = std::make_shared<const std::string>(1234, 'x');
  EXPECT_TRUE(Check().ok()) << Check().status();
}

TEST_F(AdmissionTest, ExpandsConfiguredProfiles) {
  AddWorker("w0");
  options_.kernel_profiles = {{"ours", "reference", {{"rms_norm", "fast"}}}};
  request_.spec.kernels.profile = "ours";
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->need.profile, "reference");
  EXPECT_EQ(checked->need.shape.plan, "reference+rms_norm=fast");
  EXPECT_EQ(checked->spec.kernels.profile, "ours");
}

TEST_F(AdmissionTest, TakesALossyProfileWhereModelAndWorkerHaveAUseForIt) {
  AddWorker("w0");
  request_.spec.kernels.profile = "fp8";
  // A model without such layers, however it is asked for.
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("does not support fp8"));
  options_.kernel_profiles = {{"ours", "fp8", {}}};
  request_.spec.kernels.profile = "ours";
  EXPECT_THAT(std::string(Check().status().message()), HasSubstr("does not support fp8"));
  // A device without such products, before anything is queued.
  model::ModelCard card = TestCard();
  card.lossy_profiles = {"fp8"};
  roster_.SetCard(card);
  EXPECT_EQ(ReasonOf(Check().status()), Reason::kKernelUnavailable);
  WorkerInfo info;
  info.name = "w1";
  info.state = WorkerState::kReady;
  info.kernels = {{"linear", {{"e4m3_rows", "framework", true, false, "", {}, true}}}};
  roster_.Update(info);
  roster_.SetLoaded("w1", card);
  ASSERT_TRUE(Check().ok()) << Check().status();
  EXPECT_EQ(Check()->need.shape.plan, "fp8");
}

TEST_F(AdmissionTest, ChecksRequestsWhileWorkersRestart) {
  AddWorker("w0");
  roster_.Lose("w0");
  EXPECT_TRUE(Check().ok());
  EXPECT_TRUE(CheckLoad(Idle()).ok());
}

TEST_F(AdmissionTest, RefusesWhileDrainingBeforeAllElse) {
  AddWorker("w0");
  Load load = Idle();
  load.draining = true;
  load.tenant_jobs = 100000;
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kServerDraining);
  EXPECT_TRUE(RetryAfterOf(CheckLoad(load)).has_value());
}

TEST_F(AdmissionTest, RefusesWithoutAnyDevice) {
  AddWorker("w0");
  WorkerInfo out;
  out.name = "w0";
  out.state = WorkerState::kOut;
  roster_.Update(out);
  EXPECT_EQ(ReasonOf(CheckLoad(Idle())), Reason::kNoDevice);
}

TEST_F(AdmissionTest, HoldsTenantsToTheirQuota) {
  AddWorker("w0");
  options_.tenants["t"] = {1, 3, 100, 1000};
  Load load = Idle();
  load.tenant_jobs = 2;
  EXPECT_TRUE(CheckLoad(load).ok());
  load.tenant_jobs = 3;
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kTenantQuota);
  load = Idle();
  load.tenant_device_seconds = 100;
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kTenantQuota);
  load = Idle();
  load.tenant_bytes = {1000, 0, 1000};
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kTenantQuota);
}

TEST_F(AdmissionTest, BoundsTheDeviceSecondsThatATenantHasWaiting) {
  AddWorker("w0");
  options_.tenants["t"].max_queued_device_seconds = 1000;
  Load load = Idle();
  load.tenant_backlog = absl::Seconds(999) - Check()->cost.p50();
  EXPECT_TRUE(CheckLoad(load).ok());
  load.tenant_backlog += absl::Seconds(2);
  EXPECT_THAT(std::string(CheckLoad(load).message()), HasSubstr("1001, the limit is 1000"));
  options_.tenants["t"].max_queued_device_seconds = 0.001;
  EXPECT_TRUE(CheckLoad(Idle()).ok());  // one job alone is taken, however long
}

TEST_F(AdmissionTest, BytesThatOthersHaveReservedAreTaken) {
  AddWorker("w0");
  Load load = Idle();
  load.tenant_bytes = {700, 200, 1000};
  EXPECT_TRUE(CheckLoad(load).ok());  // nobody knows yet how large it will be
  costs_.LearnOutput(Check()->need.shape, 60);
  EXPECT_TRUE(CheckLoad(load).ok());
  load.tenant_bytes.reserved = 250;
  const absl::Status refused = CheckLoad(load);
  EXPECT_EQ(ReasonOf(refused), Reason::kTenantQuota);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("700 are held"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("250 reserved"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("1000 allowed"));
}

TEST_F(AdmissionTest, ConditionsNeedRoomToo) {
  AddWorker("w0");
  request_.spec.conditions.resize(1);
  request_.spec.conditions[0].bytes = std::make_shared<const std::string>(300, 'x');
  Load load = Idle();
  load.tenant_bytes = {700, 0, 1000};
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kTenantQuota);
  load.tenant_bytes.held = 600;
  EXPECT_TRUE(CheckLoad(load).ok());
}

TEST_F(AdmissionTest, LetsATenantHaveSixteenJobsByDefault) {
  AddWorker("w0");
  Load load = Idle();
  load.tenant_jobs = 15;
  EXPECT_TRUE(CheckLoad(load).ok());
}

TEST_F(AdmissionTest, RefusesWhenALimitOrOthersHaveFilledTheStore) {
  AddWorker("w0");
  Load load = Idle();
  load.disk.stored_bytes = 100;
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kStoreFull);
  EXPECT_THAT(CheckLoad(load).message(), HasSubstr("results have reached their limit: 100,"));
  load.disk.left_free_bytes = int64_t{8} << 30;
  EXPECT_THAT(CheckLoad(load).message(),
              HasSubstr("has only the 8192 MiB left that are kept free; stored bytes: 100,"));
}

TEST_F(AdmissionTest, RefusesAHopelessDeadlineWithTheEstimate) {
  AddWorker("w0");
  request_.timeout = absl::Seconds(9);
  EXPECT_TRUE(CheckLoad(Idle()).ok());  // a guess refuses nobody
  Observe();
  const absl::Status status = CheckLoad(Idle());
  EXPECT_EQ(ReasonOf(status), Reason::kDeadlineUnreachable);
  EXPECT_THAT(SerializeError(status), HasSubstr("run_p90_seconds"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the deadline is 9s away"));
  request_.timeout = absl::Seconds(20);
  EXPECT_TRUE(CheckLoad(Idle()).ok());
  Load busy = Idle();
  busy.outlook.delay = absl::Seconds(15);
  EXPECT_EQ(ReasonOf(CheckLoad(busy)), Reason::kDeadlineUnreachable);
}

TEST_F(AdmissionTest, RefusesADeadlineThatTheSecondPassCannotMeet) {
  AddWorker("w0");
  Observe();  // of one pass
  request_.spec.preset = "twice";
  const WorkShape shape = Check()->need.shape;
  for (int i = 0; i < 20; ++i) {
    costs_.LearnStep(StepOf(shape, shape.passes[0]), absl::Milliseconds(500));
    costs_.LearnStep(StepOf(shape, shape.passes[1]), absl::Seconds(5));
  }
  request_.timeout = absl::Seconds(20);  // enough for ten steps, of any kind but the last
  EXPECT_EQ(ReasonOf(CheckLoad(Idle())), Reason::kDeadlineUnreachable);
  request_.timeout = absl::Seconds(40);
  EXPECT_TRUE(CheckLoad(Idle()).ok());
}

TEST_F(AdmissionTest, RefusesWhatIsTooLargeForThePresetsPasses) {
  AddWorker("w0");
  request_.spec.width = 1216;
  request_.spec.height = 704;
  request_.spec.num_frames = 257;
  EXPECT_TRUE(Check().ok());
  request_.spec.preset = "twice";
  const absl::Status status = Check().status();
  EXPECT_EQ(ReasonOf(status), Reason::kInvalidSpec);
  EXPECT_THAT(SerializeError(status),
              HasSubstr("with a pass at 1600x896, are 46200 latent tokens"));
}

TEST_F(AdmissionTest, BoundsTheQueueBySecondsPerDevice) {
  AddWorker("w0");
  Observe();
  options_.max_backlog_seconds = 60;
  Load load = Idle();
  load.backlog = absl::Seconds(55);
  const absl::Status status = CheckLoad(load);
  EXPECT_EQ(ReasonOf(status), Reason::kQueueFull);
  EXPECT_GE(*RetryAfterOf(status), absl::Seconds(4));
  EXPECT_THAT(std::string(status.message()), HasSubstr("55s of work; try again in "));
  AddWorker("w1");
  EXPECT_TRUE(CheckLoad(load).ok());
}

TEST_F(AdmissionTest, AnIdleServerTakesALongJob) {
  AddWorker("w0");
  Observe();
  options_.max_backlog_seconds = 1;
  EXPECT_TRUE(CheckLoad(Idle()).ok());
}

TEST_F(AdmissionTest, BoundsTheQueueByCount) {
  AddWorker("w0");
  Load load = Idle();
  load.queued = options_.max_queued_jobs;
  EXPECT_EQ(ReasonOf(CheckLoad(load)), Reason::kQueueFull);
}

TEST_F(AdmissionTest, KeepsQuarantinedShapesOut) {
  AddWorker("w0");
  const WorkShape shape = Check()->need.shape;
  quarantine_.Blame(shape, absl::ZeroDuration());
  EXPECT_TRUE(CheckLoad(Idle()).ok());
  quarantine_.Blame(shape, absl::ZeroDuration());
  const absl::Status refused = CheckLoad(Idle());
  EXPECT_EQ(ReasonOf(refused), Reason::kShapeQuarantined);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("refused for another 10 min"));
  request_.spec.width = 512;
  EXPECT_TRUE(CheckLoad(Idle()).ok());
}

}  // namespace
}  // namespace reel::front
