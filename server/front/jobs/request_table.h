// SPDX-License-Identifier: Apache-2.0
// Calls that ask for a job by a request id, answered one after the other: which job has the id, who
// waits, and whose turn has come.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/front/jobs/job_service.h"

namespace reel::front {

// A call of Create that has no answer yet.
struct Caller {
  NewJob request;
  std::string spec_hash;
  Answer<std::shared_ptr<Job>> done;
  bool reaped = false;  // room was made for it once
};

using RequestKey = std::pair<std::string, std::string>;  // tenant, request id

inline RequestKey KeyOf(const Caller& caller) {
  return {caller.request.tenant, caller.request.request_id};
}

// Confined to one thread. An empty request id is nobody's: calls about it change nothing.
class RequestTable {
 public:
  struct Request {
    std::string job;  // live, if any
    std::vector<Caller> callers;
    bool busy = false;  // the first caller is being looked after

    Caller TakeFirst();
  };

  void Add(Caller caller);
  // The job has the id, until it gives it free.
  void Claim(const RequestKey& key, const std::string& job);
  void Free(const RequestKey& key);
  // The caller that was looked after has its answer.
  void Answered(const RequestKey& key);

  // Those for whom something has changed.
  std::set<RequestKey> TakeDue() { return std::exchange(due_, {}); }
  // Null: nobody waits, and no job has the id.
  Request* Find(const RequestKey& key);
  void Forget(const RequestKey& key) { requests_.erase(key); }

 private:
  std::map<RequestKey, Request> requests_;
  std::set<RequestKey> due_;
};

}  // namespace reel::front
