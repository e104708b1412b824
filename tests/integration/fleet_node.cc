// SPDX-License-Identifier: Apache-2.0
// A node of a fleet that renders nothing: it asks for videos, claims, takes over, finishes and
// cancels at random, and says what it believes, a line each:
//   ACK sequence message_id    the broker has acknowledged it
//   MINE tenant/id epoch name  its own fold says that it may begin
//   DONE tenant/id epoch       its own fold has counted its success
//   UNKNOWN message_id, SETTLED message_id won|lost
// SIGTERM: it settles what is open, says STOPPED and reads on. SIGINT: it reads to the end of the
// log, says VIEW fingerprint and leaves.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "reel/fleet/v1/log.pb.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/integration/fleet_text.h"

namespace reel::tests {
namespace {

using front::FleetJob;
using front::FleetPhase;
using front::LogKind;
using front::WriteResult;
using Outcome = front::WriteResult::Outcome;
using Job = std::pair<const front::FleetState::Key, FleetJob>;

namespace v1 = ::reel::fleet::v1;

// At once, whatever becomes of this process.
void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::perror("write");
}

// Whether a signal has come; it is blocked in all threads.
bool Told(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  const timespec now{};
  return sigtimedwait(&set, nullptr, &now) == number;
}

// One message, until its outcome is known.
struct Attempt {
  front::LogSubject subject;
  front::LogWrite write;
};

class Node {
 public:
  Node(std::string name, unsigned seed)
      : name_(std::move(name)), nonce_(absl::StrCat(std::random_device{}())), random_(seed) {}

  bool Open(const std::vector<std::string>& urls) {
    front::FleetLogOptions options;
    options.urls = urls;
    options.fleet = "storm";
    options.replicas = static_cast<int>(urls.size());
    options.max_bytes = 256 << 20;
    for (const absl::Time end = absl::Now() + absl::Seconds(30); absl::Now() < end;) {
      auto log = front::FleetLog::Open(options, {}, view_);
      if (log.ok()) {
        log_ = *std::move(log);
        return view_.WaitUntilReady(absl::Seconds(30));
      }
      std::fprintf(stderr, "%s\n", log.status().ToString().c_str());
      absl::SleepFor(absl::Milliseconds(100));
    }
    return false;
  }

  void Step() {
    Settle();
    const front::FleetState state = view_.state();
    const auto die = random_() % 100;
    if (die < 15 || state.jobs.empty()) return Submit();
    const Job* const job = Pick(state);
    if (job == nullptr) return Submit();
    const bool mine = job->second.phase == FleetPhase::kClaimed && job->second.owner == name_;
    if (die < 18) return Cancel(*job);
    if (mine) return Finish(*job);
    // Others' as well now and then: whether an owner is silent the log does not ask.
    if (job->second.phase == FleetPhase::kQueued || die < 30) Claim(*job);
  }

  void End() {
    for (const absl::Time end = absl::Now() + absl::Seconds(90);
         !open_.empty() && absl::Now() < end;) {
      Settle();
    }
    Say("STOPPED");
    while (!Told(SIGINT)) absl::SleepFor(absl::Milliseconds(10));
    absl::StatusOr<front::StreamFacts> facts = log_->connection().Look();
    for (int i = 0; i < 200 && !facts.ok(); ++i) {
      absl::SleepFor(absl::Milliseconds(50));
      facts = log_->connection().Look();
    }
    const bool read = facts.ok() && view_.WaitFor(facts->last, absl::Seconds(20));
    int64_t voids = 0;
    for (const auto& [verdict, count] : view_.voids()) voids += count;
    Say(absl::StrCat("HOLES ", log_->tail().holes()));
    Say(absl::StrCat("VOIDS ", voids));
    Say(absl::StrCat("VIEW ", read ? FingerprintOf(view_.state()) : "behind"));
  }

 private:
  // One of those that can still change; the newest mostly, so that nodes meet.
  const Job* Pick(const front::FleetState& state) {
    std::vector<const Job*> open;
    for (const Job& job : state.jobs) {
      if (!front::HasEnded(job.second.phase)) open.push_back(&job);
    }
    if (open.empty()) return nullptr;
    return open[random_() % std::min<size_t>(open.size(), 6)];
  }

  void Submit() {
    v1::Request request;
    request.set_create_request(std::string(400, 'r'));
    Put({absl::StrCat("t", random_() % 2), absl::StrCat("prod-", name_, "-", nonce_, "-", ++made_),
         LogKind::kRequest, 0},
        request.SerializeAsString());
  }
  void Claim(const Job& job) {
    v1::Claim claim;
    claim.set_node(name_);
    Put({job.first.first, job.first.second, LogKind::kClaim, job.second.epoch + 1},
        claim.SerializeAsString());
  }
  void Cancel(const Job& job) {
    v1::CancelWish wish;
    wish.set_kind(v1::CancelWish::KIND_CANCELLED);
    Put({job.first.first, job.first.second, LogKind::kCancel, 0}, wish.SerializeAsString());
  }
  void Finish(const Job& job) {
    v1::Finish finish;
    finish.set_node(name_);
    const auto die = random_() % 10;
    if (die < 6)
      finish.mutable_succeeded()->set_size_bytes(1);
    else if (die < 8)
      finish.mutable_failed()->set_reason("WORKER_LOST");
    else
      finish.mutable_released();
    Put({job.first.first, job.first.second, LogKind::kFinish, job.second.epoch},
        finish.SerializeAsString());
  }

  void Put(const front::LogSubject& subject, std::string payload) {
    const auto name = front::MakeSubject(subject);
    if (!name.ok()) return Say("BAD a subject");
    Attempt attempt{subject,
                    {*name, std::move(payload), absl::StrCat(name_, ".", nonce_, ".", ++written_)}};
    if (Try(attempt) || attempt.write.repeated == false) return;
    Say(absl::StrCat("UNKNOWN ", attempt.write.message_id));
    open_.push_back(std::move(attempt));
  }

  // True: the outcome is known. Then, and when nothing was sent, `repeated` is as before.
  bool Try(Attempt& attempt) {
    const auto result = log_->writer().Write(attempt.write, absl::ZeroDuration());
    if (!result.ok()) {
      if (!absl::IsUnavailable(result.status())) Say("BAD " + result.status().ToString());
      return false;
    }
    if (result->outcome == Outcome::kUnknown) {
      attempt.write.repeated = true;
      return false;
    }
    if (attempt.write.repeated) {
      Say(absl::StrCat("SETTLED ", attempt.write.message_id,
                       result->outcome == Outcome::kWon ? " won" : " lost"));
    }
    if (result->outcome == Outcome::kWon) Believe(attempt, result->sequence);
    return true;
  }

  // Only what its own fold says is acted upon.
  void Believe(const Attempt& attempt, uint64_t sequence) {
    Say(absl::StrCat("ACK ", sequence, " ", attempt.write.message_id));
    if (!view_.WaitFor(sequence, absl::Seconds(20))) return Say("BAD its own write was not read");
    const front::LogSubject& subject = attempt.subject;
    const auto job = view_.Find(subject.tenant, subject.id);
    if (!job || job->epoch != subject.epoch || job->owner != name_) return;
    const std::string video =
        absl::StrCat(subject.tenant, "/", subject.id, " ", subject.epoch, " ", name_);
    if (subject.kind == LogKind::kClaim && job->phase == FleetPhase::kClaimed) Say("MINE " + video);
    if (subject.kind == LogKind::kFinish && job->phase == FleetPhase::kSucceeded) {
      Say("DONE " + video);
    }
  }

  void Settle() {
    for (size_t i = open_.size(); i-- > 0;) {
      if (Try(open_[i])) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const std::string name_, nonce_;
  std::mt19937 random_;
  front::FleetView view_;
  std::unique_ptr<front::FleetLog> log_;  // tells the view
  std::vector<Attempt> open_;
  int made_ = 0, written_ = 0;
};

int Main(int argc, char** argv) {
  unsigned seed = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &seed)) {
    std::fprintf(stderr, "usage: fleet-node NAME SEED URL,URL\n");
    return 2;
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  Node node(argv[1], seed);
  const std::vector<std::string> urls = absl::StrSplit(argv[3], ',');
  if (!node.Open(urls)) return 1;
  Say("READY");
  while (!Told(SIGTERM)) {
    node.Step();
    // As fast as it can is no faster on a busy machine, and a log of millions is read for long.
    absl::SleepFor(absl::Milliseconds(4));
  }
  node.End();
  return 0;
}

}  // namespace
}  // namespace reel::tests

int main(int argc, char** argv) { return reel::tests::Main(argc, argv); }
