// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/metrics.h"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "server/front/metrics/call_metrics.h"
#include "server/front/metrics/collectors.h"
#include "server/front/metrics/job_metrics.h"

namespace reel::front {

struct Metrics::Impl {
  explicit Impl(const MetricsOptions& options)
      : dropped(CounterFamily(registry, "reel_metric_series_dropped_total",
                              "Observations folded into 'other', since a family is full.")),
        draining(
            GaugeFamily(registry, "reel_draining", "1 while no new work is taken before the end.")
                .Add({})),
        certificate_end(
            GaugeFamily(registry, "reel_tls_certificate_expiry_timestamp_seconds",
                        "When the certificate of new connections ends, since the epoch; "
                        "none without TLS.")),
        self_check_misses(
            CounterFamily(registry, "reel_self_check_misses_total",
                          "Own calls that the server did not answer; three in a row end "
                          "the process.")
                .Add({})),
        xids(CounterFamily(registry, "reel_gpu_xids_total",
                           "Errors that the driver wrote into the kernel's log, of any GPU of the "
                           "machine; none where that log cannot be read.")),
        refusals(registry, options.profiles, dropped),
        workers(registry, dropped),
        experiments(registry, options.arms),
        jobs(registry, refusals, workers, experiments, options.tenants),
        calls(registry, refusals),
        door(registry),
        traces(registry) {
    GaugeFamily(registry, "reel_build_info", "What runs; always 1.")
        .Add({{"version", options.version}, {"revision", options.revision}})
        .Set(1);
  }

  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& dropped;
  prometheus::Gauge& draining;
  prometheus::Family<prometheus::Gauge>& certificate_end;
  prometheus::Counter& self_check_misses;
  prometheus::Family<prometheus::Counter>& xids;
  RefusalMetrics refusals;
  WorkerMetrics workers;
  ExperimentMetrics experiments;
  JobMetrics jobs;
  CallMetrics calls;
  DoorMetrics door;
  TraceMetrics traces;
  ProcessCollector process;
  LogCollector log;
  FleetCollector fleet;
};

Metrics::Metrics(const MetricsOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Metrics::~Metrics() = default;

JobObserver& Metrics::jobs() { return impl_->jobs; }
CallObserver& Metrics::calls() { return impl_->calls; }
DoorObserver& Metrics::door() { return impl_->door; }
TraceObserver& Metrics::traces() { return impl_->traces; }
void Metrics::SetDraining(bool draining) { impl_->draining.Set(draining ? 1 : 0); }

void Metrics::SetCertificateEnd(absl::Time valid_until) {
  impl_->certificate_end.Add({}).Set(absl::ToDoubleSeconds(valid_until - absl::UnixEpoch()));
}
void Metrics::WatchFleet(std::function<std::optional<FleetStatus>()> look) {
  impl_->fleet.Watch(std::move(look));
}
void Metrics::CountXids(XidClass what, int count) {
  impl_->xids.Add({{"class", std::string(NameOf(what))}}).Increment(count);
}

void Metrics::CountSelfCheckMiss() { impl_->self_check_misses.Increment(); }

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (const prometheus::Collectable* more :
       {static_cast<const prometheus::Collectable*>(&impl_->process),
        static_cast<const prometheus::Collectable*>(&impl_->log),
        static_cast<const prometheus::Collectable*>(&impl_->fleet)}) {
    for (prometheus::MetricFamily& family : more->Collect()) families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace reel::front
