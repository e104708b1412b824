// SPDX-License-Identifier: Apache-2.0
// The request ids in use: the job that has each, and the calls that wait for it.
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

// Confined to one thread. An empty request id is ignored everywhere.
class RequestTable {
 public:
  struct Request {
    std::string job;  // live, if any
    std::vector<Caller> callers;
    bool busy = false;  // one caller is being handled

    Caller TakeFirst();
  };

  void Add(Caller caller);
  // The job has the id until Free.
  void Claim(const RequestKey& key, const std::string& job);
  void Free(const RequestKey& key);
  // The caller that was being handled has its answer.
  void Answered(const RequestKey& key);

  // The ids for which something has changed since the last call.
  std::set<RequestKey> TakeDue() { return std::exchange(due_, {}); }
  // Null: no caller waits, and no job has the id.
  Request* Find(const RequestKey& key);
  void Forget(const RequestKey& key) { requests_.erase(key); }

 private:
  std::map<RequestKey, Request> requests_;
  std::set<RequestKey> due_;
};

}  // namespace reel::front
