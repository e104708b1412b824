// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/name_lookup.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "kernels/base/mutex.h"

namespace reel::front {
namespace {

// Between two looks at the time left, which may be brought forward.
constexpr absl::Duration kPiece = absl::Milliseconds(50);

AddressList Ask(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

}  // namespace

// Belongs to the look-up and to the thread that asks, whichever ends last.
struct NameLookup::Answer {
  Mutex mutex;
  CondVar given;
  bool done ABSL_GUARDED_BY(mutex) = false;
  AddressList found ABSL_GUARDED_BY(mutex){nullptr, &freeaddrinfo};
};

NameLookup::NameLookup(const Address& address)
    : host_(address.host), port_(std::to_string(address.port)) {}

// Not getaddrinfo_a: ThreadSanitizer does not know the threads that the C library starts for it.
bool NameLookup::Begin() {
  auto answer = std::make_shared<Answer>();
  try {
    std::thread([answer, host = host_, port = port_] {
      AddressList found = Ask(host, port, 0);
      MutexLock lock(answer->mutex);
      answer->found = std::move(found);
      answer->done = true;
      answer->given.NotifyAll();
    }).detach();
  } catch (const std::system_error&) {
    return false;  // no thread is to be had now
  }
  answer_ = std::move(answer);
  return true;
}

AddressList NameLookup::Find(absl::FunctionRef<absl::Duration()> left) {
  AddressList found = Ask(host_, port_, AI_NUMERICHOST);
  if (found != nullptr) return found;
  if (answer_ == nullptr && !Begin()) return found;
  {
    MutexLock lock(answer_->mutex);
    while (!answer_->done) {
      const absl::Duration wait = std::min(left(), kPiece);
      if (wait <= absl::ZeroDuration()) return found;
      answer_->given.WaitFor(answer_->mutex, wait);
    }
    found = std::move(answer_->found);
  }
  answer_.reset();
  return found;
}

}  // namespace reel::front
