// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/trace_receiver.h"

#include <httplib.h>

#include <thread>

#include "kernels/base/mutex.h"

namespace reel::testing {

struct TraceReceiver::Impl {
  explicit Impl(std::unique_ptr<httplib::Server> made) : server(std::move(made)) {}

  const std::unique_ptr<httplib::Server> server;
  std::thread thread;
  Mutex mutex;
  CondVar changed;
  std::vector<ReceivedTraces> received ABSL_GUARDED_BY(mutex);
  int status ABSL_GUARDED_BY(mutex) = 200;
  std::string retry_after ABSL_GUARDED_BY(mutex);
  std::string answer ABSL_GUARDED_BY(mutex) = "{}";
};

TraceReceiver::TraceReceiver()
    : TraceReceiver(std::make_unique<Impl>(std::make_unique<httplib::Server>())) {
  endpoint_ = "http://127.0.0.1:" + std::to_string(port_);
}

TraceReceiver::TraceReceiver(const std::string& certificate_file, const std::string& key_file)
    : TraceReceiver(std::make_unique<Impl>(
          std::make_unique<httplib::SSLServer>(certificate_file.c_str(), key_file.c_str()))) {
  endpoint_ = "https://127.0.0.1:" + std::to_string(port_);
}

TraceReceiver::TraceReceiver(std::unique_ptr<Impl> made) : impl_(std::move(made)) {
  Impl& impl = *impl_;
  impl.server->Post(".*", [&impl](const httplib::Request& request, httplib::Response& response) {
    MutexLock lock(impl.mutex);
    impl.received.push_back(
        {request.path, request.get_header_value("Content-Type"), request.body,
         static_cast<int64_t>(request.get_header_value<uint64_t>("Content-Length")),
         request.get_header_value("Content-Encoding"), request.get_header_value("Authorization"),
         request.remote_port});
    response.status = impl.status;
    if (!impl.retry_after.empty()) response.set_header("Retry-After", impl.retry_after);
    response.set_content(impl.answer, "application/json");
    impl.changed.NotifyAll();
  });
  impl.server->set_keep_alive_timeout(1);  // the end waits for connections that are kept
  port_ = impl.server->bind_to_any_port("127.0.0.1");
  impl.thread = std::thread([&impl] { impl.server->listen_after_bind(); });
  // Before that it does not hear that it is to stop.
  while (!impl.server->is_running()) std::this_thread::yield();
}

TraceReceiver::~TraceReceiver() {
  impl_->server->stop();
  impl_->thread.join();
}

void TraceReceiver::AnswerWith(int status, const std::string& retry_after) {
  MutexLock lock(impl_->mutex);
  impl_->status = status;
  impl_->retry_after = retry_after;
}

void TraceReceiver::AnswerBody(const std::string& body) {
  MutexLock lock(impl_->mutex);
  impl_->answer = body;
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
