#pragma once
/// Tells a dataset function which input pipeline it builds, and for how many replicas.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>

namespace distribute {

/// Identifies one of the job's input pipelines. It can be copied. Source
/// tf.distribute.InputContext
class InputContext {
 public:
  explicit InputContext(int64_t num_input_pipelines = 1, int64_t input_pipeline_id = 0,
                        int64_t num_replicas_in_sync = 1)
      : num_input_pipelines_(num_input_pipelines),
        input_pipeline_id_(input_pipeline_id),
        num_replicas_in_sync_(num_replicas_in_sync) {}

  /// Returns the number of pipelines of the job, the number of this one, and the number of replicas
  /// of the job.
  int64_t num_input_pipelines() const { return num_input_pipelines_; }
  int64_t input_pipeline_id() const { return input_pipeline_id_; }
  int64_t num_replicas_in_sync() const { return num_replicas_in_sync_; }
  /// Divides `global_batch_size` by the number of replicas.
  /// Throws  InvalidArgumentError when it is not divisible.
  int64_t get_per_replica_batch_size(int64_t global_batch_size) const;

 private:
  int64_t num_input_pipelines_, input_pipeline_id_, num_replicas_in_sync_;
};

/// Formats a context as "InputContext(input pipeline id: 0, total: 1)".
std::string to_string(const InputContext& context);

}  // namespace distribute
