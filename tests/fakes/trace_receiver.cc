// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/trace_receiver.h"

#include <httplib.h>

#include <thread>

#include "kernels/base/mutex.h"

namespace reel::testing {

struct TraceReceiver::Impl {
  httplib::Server server;
  std::thread thread;
  Mutex mutex;
  CondVar changed;
  std::vector<ReceivedTraces> received ABSL_GUARDED_BY(mutex);
  int status ABSL_GUARDED_BY(mutex) = 200;
  std::string retry_after ABSL_GUARDED_BY(mutex);
};

TraceReceiver::TraceReceiver() : impl_(std::make_unique<Impl>()) {
  Impl& impl = *impl_;
  impl.server.Post(".*", [&impl](const httplib::Request& request, httplib::Response& response) {
    MutexLock lock(impl.mutex);
    impl.received.push_back({request.path, request.get_header_value("Content-Type"), request.body});
    response.status = impl.status;
    if (!impl.retry_after.empty()) response.set_header("Retry-After", impl.retry_after);
    response.set_content("{}", "application/json");
    impl.changed.NotifyAll();
  });
  port_ = impl.server.bind_to_any_port("127.0.0.1");
  endpoint_ = "http://127.0.0.1:" + std::to_string(port_);
  impl.thread = std::thread([&impl] { impl.server.listen_after_bind(); });
  // Before that it does not hear that it is to stop.
  while (!impl.server.is_running()) std::this_thread::yield();
}

TraceReceiver::~TraceReceiver() {
  impl_->server.stop();
  impl_->thread.join();
}

void TraceReceiver::AnswerWith(int status, const std::string& retry_after) {
  MutexLock lock(impl_->mutex);
  impl_->status = status;
  impl_->retry_after = retry_after;
}

std::vector<ReceivedTraces> TraceReceiver::Await(size_t count) {
  const absl::Time end = absl::Now() + absl::Seconds(30);
  MutexLock lock(impl_->mutex);
  while (impl_->received.size() < count && absl::Now() < end) {
    impl_->changed.WaitFor(impl_->mutex, end - absl::Now());
  }
  return impl_->received;
}

}  // namespace reel::testing
