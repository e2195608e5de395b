#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/summary/file_writer.hpp>

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace distribute::summary_internal {

/// Encodes a google.protobuf.Value.
DISTRIBUTE_INLINE std::string encode_value(const summary::HparamValue& value) {
  io::ProtoWriter proto;
  if (const double* number = std::get_if<double>(&value.value()))
    proto.float64(2, *number, io::Presence::Always);
  if (const std::string* text = std::get_if<std::string>(&value.value()))
    proto.bytes(3, *text, io::Presence::Always);
  if (const bool* flag = std::get_if<bool>(&value.value()))
    proto.integer(4, *flag, io::Presence::Always);
  return proto.take();
}

DISTRIBUTE_INLINE bool write_hparams(const char* tag, const std::string& content) {
  const summary::FileWriter* writer = current_writer();
  if (!writer) return false;
  writer->write(0, {.tag = tag,
                    .plugin = "hparams",
                    .tensor = summary::encode_no_tensor(),
                    .plugin_content = content});
  return true;
}

/// Gives the same name for equal values in any order.
DISTRIBUTE_INLINE std::string group_of(summary::Hparams values) {
  std::sort(values.begin(), values.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  uint64_t hash = cluster_internal::fnv1a("");
  for (const auto& [name, value] : values)
    hash = cluster_internal::fnv1a(name + encode_value(value), hash);
  return absl::StrCat(absl::Hex(hash));
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

DISTRIBUTE_INLINE std::string encode_session_start(const Hparams& values, const std::string& group,
                                                   double time) {
  io::ProtoWriter start;
  for (const auto& [name, value] : values)
    start.message(1, io::map_entry_proto(name, summary_internal::encode_value(value)));
  return io::ProtoWriter().message(3, start.bytes(4, group).float64(5, time)).take();
}

DISTRIBUTE_INLINE std::string encode_session_end(SessionStatus status, double time) {
  const auto end = io::ProtoWriter().integer(1, int64_t(status)).float64(2, time);
  return io::ProtoWriter().message(4, end).take();
}

DISTRIBUTE_INLINE std::string encode_experiment(const Hparams& examples,
                                                const std::vector<HparamsMetric>& metrics,
                                                double time) {
  io::ProtoWriter experiment;
  experiment.float64(3, time);
  for (const auto& [name, value] : examples) {
    const size_t kind = value.value().index();  // bool, number, text
    const int64_t type = kind == 0 ? 2 : kind == 1 ? 3 : 1;
    experiment.message(4, io::ProtoWriter().bytes(1, name).integer(4, type));
  }
  for (const HparamsMetric& metric : metrics) {
    const auto name = io::ProtoWriter().bytes(1, metric.group).bytes(2, metric.tag);
    experiment.message(5, io::ProtoWriter().message(1, name).bytes(3, metric.display_name));
  }
  return io::ProtoWriter().message(2, experiment).take();
}

DISTRIBUTE_INLINE bool hparams(const Hparams& values, const std::string& trial_id) {
  const std::string group = trial_id.empty() ? summary_internal::group_of(values) : trial_id;
  return summary_internal::write_hparams(
      "_hparams_/session_start_info",
      encode_session_start(values, group, base_internal::unix_seconds()));
}

DISTRIBUTE_INLINE bool hparams_end(SessionStatus status) {
  return summary_internal::write_hparams("_hparams_/session_end_info",
                                         encode_session_end(status, base_internal::unix_seconds()));
}

DISTRIBUTE_INLINE bool hparams_config(const Hparams& examples,
                                      const std::vector<HparamsMetric>& metrics) {
  return summary_internal::write_hparams(
      "_hparams_/experiment", encode_experiment(examples, metrics, base_internal::unix_seconds()));
}

}  // namespace distribute::summary
