// SPDX-License-Identifier: Apache-2.0
// Servers of one fleet, each whole but for its workers, over one log in memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet_joining.h"
#include "server/front/node/fleet_service.h"
#include "tests/fakes/memory_log.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {

// One server. Its clock goes on when a test says so; its beats are sent by a tick, which a look at
// the clock makes.
class Member : public Harness {
 public:
  Member(reel::testing::MemoryLog& log, const VideoSerializer& shared, std::string name,
         ObjectStore* objects_of_all = nullptr)
      : objects(objects_of_all), name_(std::move(name)), log_(log) {
    shared_serializer = &shared;
  }
  ~Member() { Kill(); }

  // A process; a second time another one, on the same folder.
  // `alone`: nobody else has its name, and it acts under it from the start.
  void Begin(bool with_worker = true, bool alone = true) {
    Kill();
    options.replica = names;
    options.alone = has_own_log;
    NodeOptions node;
    node.fleet = names;
    node.node = name_;
    node.address = name_ + ":1";
    node.process = std::hash<std::string>{}(absl::StrCat(name_, ++processes));
    node.gateway = gateway;
    if (gateway) options.models.clear();
    node.deliver_backlog = deliver_backlog;
    node.sweep = kSweep;
    node.seal = seal;
    node.view_file = folder.File(has_own_log ? "log.db" : "fleet.db");
    node.uploads_folder = folder.File("uploads");
    node.alone = has_own_log;
    SharedStore shared{objects, nullptr};
    if (!has_own_log) {
      shared.path_of = [this](const std::string& id, int attempt) {
        return media->PathOf(id, attempt);
      };
    }
    service = std::make_unique<FleetService>(node, *shared_serializer, clock, shared, [this](bool) {
      return disk.room > 0 ? absl::OkStatus() : Full();
    });
    end_journal = service.get();
    shared_clock = &service->clock();
    Start();
    if (with_worker) AddWorker();
    // As it would from the beats of another; a gateway's tests have it hear them.
    if (!gateway) dispatcher->LearnCard(shared_serializer->SerializeCard(TestCard()));
    auto log = Join();
    if (!has_own_log) {
      const absl::Status brought =
          BringIntoFleet({*store, *media, *shared_serializer}, node, objects, *log);
      EXPECT_TRUE(brought.ok()) << brought;
    }
    service->Start(std::move(log), *dispatcher, {peers, ""});
    Pass(absl::ZeroDuration());
    for (int i = 0; alone && i < 5; ++i) Pass(absl::Milliseconds(100));
  }
  // Nothing of it is told to anybody.
  void Kill() {
    if (service != nullptr) service->Stop();
    port = nullptr;
    dispatcher.reset();
    service.reset();
  }
  void Pass(absl::Duration by) {
    clock.Advance(by);
    service->Poke();
    dispatcher->Flush();
    service->Poke();
  }

  absl::StatusOr<JobPtr> Ask(NewJob job) {
    return Await<JobPtr>([&](auto done) { service->Create(std::move(job), std::move(done)); });
  }
  absl::StatusOr<Jobs> AskAll(NewJob job) {
    return Await<Jobs>([&](auto done) { service->CreateAll(std::move(job), std::move(done)); });
  }
  JobPtr MustAsk(NewJob job) {
    auto made = Ask(std::move(job));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : nullptr;
  }
  absl::StatusOr<JobPtr> Get(const std::string& id, const Reach& reach = {"t"}) {
    return Await<JobPtr>([&](auto done) { service->Find(reach, id, std::move(done)); });
  }
  // Nothing while it has not read of it.
  std::optional<VideoState> StateOf(const std::string& id) {
    auto job = Get(id);
    if (!job.ok()) return std::nullopt;
    return (*job)->state();
  }
  std::vector<std::string> Page(ListQuery query) {
    auto page = Await<ListPage>([&](auto done) { service->List(query, std::move(done)); });
    EXPECT_TRUE(page.ok()) << page.status();
    std::vector<std::string> ids;
    for (const Video& video : page->videos) ids.push_back(video.id);
    return ids;
  }

  // Shorter than a service's: a test lives through it in steps of a beat.
  static constexpr absl::Duration kSweep = absl::Minutes(1);

  Peers peers;  // of the next Begin
  Seal seal;    // likewise
  std::unique_ptr<FleetService> service;
  reel::testing::MemoryLog::Port* port = nullptr;
  int deliver_backlog = 32;
  bool gateway = false;
  ObjectStore* objects;        // of the next Begin
  bool has_own_log = false;    // in SQLite, of the next Begin
  std::string names = "prod";  // of new videos, of the next Begin
  uint64_t processes = 0;      // of this name and folder so far

 private:
  std::unique_ptr<LogPort> Join() {
    if (has_own_log) {
      auto opened = EmbeddedLog::Open(service->view());
      EXPECT_TRUE(opened.ok()) << opened.status();
      return *std::move(opened);
    }
    auto joined = log_.Join(service->view());
    port = joined.get();
    return joined;
  }
  static absl::Status Full() {
    return MakeError(Reason::kStoreFull, "The disk of the data folder is full");
  }

  const std::string name_;
  reel::testing::MemoryLog& log_;
};

class FleetFixture : public ::testing::Test {
 protected:
  Member& Add(const std::string& name, bool with_worker = true, bool gateway = false) {
    auto& member = members_[name];
    member = std::make_unique<Member>(log_, serializer_, name, objects_);
    member->deliver_backlog = deliver_backlog_;
    member->seal = seal_;
    member->gateway = gateway;
    member->Begin(with_worker);
    return *member;
  }
  // In steps that are no pause, so that beats come and go.
  void Pass(absl::Duration by) {
    for (absl::Duration passed; passed < by; passed += kStep) {
      brokers_clock_.Advance(kStep);
      for (auto& [name, member] : members_) {
        if (member->service != nullptr) member->Pass(kStep);
      }
    }
  }
  // Until that is so; half a minute of real time at most.
  template <typename Condition>
  bool Comes(Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (!condition() && absl::Now() < end) {
      // The disk's time is not the clock's.
      for (auto& [name, member] : members_) {
        if (member->service != nullptr) member->Settle();
      }
      Pass(kStep);
    }
    return condition();
  }
  // The one that has an assignment, when one has.
  Member* WhoRuns() {
    Member* runs = nullptr;
    EXPECT_TRUE(Comes([&] {
      for (auto& [name, member] : members_) {
        if (member->pool.num_waiting() > 0) runs = member.get();
      }
      return runs != nullptr;
    }));
    return runs;
  }

  static constexpr absl::Duration kStep = absl::Milliseconds(200);
  reel::testing::ManualClock brokers_clock_;  // told by the log where a test says so
  reel::testing::MemoryLog log_;
  reel::testing::MemorySerializer serializer_;
  ObjectStore* objects_ = nullptr;  // of members that are added from then on
  int deliver_backlog_ = 32;        // likewise
  Seal seal_;                       // likewise
  std::map<std::string, std::unique_ptr<Member>> members_;
};

inline NewJob WithPicture(Member& member, const std::string& bytes) {
  NewJob job = member.Request();
  model::Condition condition;
  condition.content_type = "image/png";
  condition.bytes = std::make_shared<const std::string>(bytes);
  condition.size_bytes = static_cast<int64_t>(bytes.size());
  condition.sha256 = Sha256Hex(bytes);
  job.spec.conditions = {condition};
  return job;
}

inline NewJob RequestWithId(const std::string& request_id,
                            const std::string& prompt = "a red fox") {
  NewJob job;
  job.tenant = "t";
  job.spec.prompt = prompt;
  job.spec_sent = prompt;
  job.request_id = request_id;
  return job;
}

inline NewJob SeveralWithId(const std::string& request_id, int count) {
  NewJob job = RequestWithId(request_id);
  job.count = count;
  job.spec.seed = 7;
  return job;
}
inline std::vector<std::string> IdsOf(const absl::StatusOr<Jobs>& jobs) {
  std::vector<std::string> ids;
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  if (!jobs.ok()) return ids;
  for (const JobPtr& job : *jobs) ids.push_back(job->Snapshot().id);
  return ids;
}

}  // namespace reel::front
