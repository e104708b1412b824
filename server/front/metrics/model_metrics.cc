// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/model_metrics.h"

#include <set>
#include <string_view>

namespace reel::front {
namespace {

constexpr size_t kHashDigits = 12;

prometheus::Family<prometheus::Gauge>& ModelFamily(prometheus::Registry& registry, const char* name,
                                                   const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

// Of its calls, as its worker holds it; a model without operators has none.
std::string_view TypeOf(const model::ModelCard& card) {
  return card.calls.empty() ? std::string_view() : card.calls.front().dtype;
}

}  // namespace

ModelMetrics::ModelMetrics(prometheus::Registry& registry)
    : info_(ModelFamily(
          registry, "reel_model_info",
          "What a model is: the first digits of its weights' SHA-256, and the type that "
          "they are held in; always 1.")),
      ready_(
          ModelFamily(registry, "reel_model_ready", "1 while some device has the model loaded.")),
      age_(ModelFamily(
          registry, "reel_queue_age_seconds",
          "How long the video that has waited longest for the model has waited; 0 while "
          "none waits.")) {}

void ModelMetrics::SetInfo(const ModelGauges& model, Series& series) {
  if (model.card == nullptr) return;
  const std::string_view dtype = TypeOf(*model.card);
  const std::string_view weights =
      std::string_view(model.card->weights_sha256).substr(0, kHashDigits);
  if (series.info != nullptr && series.weights == weights && series.dtype == dtype) return;
  if (series.info != nullptr) info_.Remove(series.info);
  series.weights = weights;
  series.dtype = dtype;
  series.info = &info_.Add(
      {{"model", std::string(model.name)}, {"weights", series.weights}, {"dtype", series.dtype}});
  series.info->Set(1);
}

void ModelMetrics::Remove(const Series& series) {
  if (series.info != nullptr) info_.Remove(series.info);
  ready_.Remove(series.ready);
  age_.Remove(series.age);
}

void ModelMetrics::Set(const std::vector<ModelGauges>& models) {
  const MutexLock lock(mutex_);
  std::set<std::string_view> served;
  for (const ModelGauges& model : models) {
    served.insert(model.name);
    auto found = series_.find(model.name);
    if (found == series_.end()) {
      const std::string name(model.name);
      found = series_.emplace(name, Series()).first;
      found->second.ready = &ready_.Add({{"model", name}});
      found->second.age = &age_.Add({{"model", name}});
    }
    SetInfo(model, found->second);
    found->second.ready->Set(model.ready ? 1 : 0);
    found->second.age->Set(model.oldest_wait_seconds);
  }
  for (auto series = series_.begin(); series != series_.end();) {
    if (served.contains(series->first)) {
      ++series;
      continue;
    }
    Remove(series->second);
    series = series_.erase(series);
  }
}

}  // namespace reel::front
