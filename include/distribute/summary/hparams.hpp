#pragma once
/// Hyper-parameters of a run for TensorBoard's table of runs.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace distribute::summary {

/// A number, a switch or a text.
class HparamValue {
 public:
  HparamValue(bool value) : value_(value) {}
  template <typename Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>) HparamValue(Number value)
      : value_(double(value)) {}
  HparamValue(const char* value) : value_(std::string(value)) {}
  HparamValue(std::string value) : value_(std::move(value)) {}
  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};

using Hparams = std::vector<std::pair<std::string, HparamValue>>;

/// A figure of the runs that the table shows: the tag of a scalar, in a subdirectory of each run.
struct HparamsMetric {
  std::string tag;
  std::string group = {};  // such as "validation"; empty: the run's own directory
  std::string display_name = {};
};

enum class SessionStatus { Success = 1, Failure = 2, Running = 3 };  // of a run

/// Says what the run that the writer in scope belongs to was started with. Runs of the same values
/// are one group, `trial_id`; by default a checksum of the values.
/// Source  tensorboard.plugins.hparams.api.hparams
bool hparams(const Hparams& values, const std::string& trial_id = {});
/// Says how the run has ended.
bool hparams_end(SessionStatus status = SessionStatus::Success);
/// Describes the experiment, in its top directory: names of parameters and figures. Optional.
/// Source  tensorboard.plugins.hparams.api.hparams_config
bool hparams_config(const Hparams& examples, const std::vector<HparamsMetric>& metrics);

/// The contents of the plugin, as bytes: times in seconds since 1970.
std::string encode_session_start(const Hparams& values, const std::string& group, double time);
std::string encode_session_end(SessionStatus status, double time);
std::string encode_experiment(const Hparams& examples, const std::vector<HparamsMetric>& metrics,
                              double time);

}  // namespace distribute::summary
