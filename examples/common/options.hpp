#pragma once
/// The flags that every example trainer takes, read and checked.

#include <distribute/cluster/flags_cluster_resolver.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// Values of the flags; see options.cpp for their meaning and defaults.
struct TrainerOptions {
  std::string api;  // "strategy", "horovod"
  std::string strategy, device, data_dir, model, optimizer, lr_schedule, policy;
  std::string checkpoint_dir, logdir, init_checkpoint, final_checkpoint, loss_csv;
  std::string export_dir, export_onnx;
  std::optional<std::string> json;  // "-": standard output
  int replicas = 1;
  int64_t batch_size = 0, steps = 0, save_steps = 0, decay_steps = 0, warmup_steps = 0;
  double epochs = 0, learning_rate = 0, decay_alpha = 0, momentum = 0, beta_1 = 0, beta_2 = 0;
  double rho = 0, epsilon = 0, initial_accumulator_value = 0;
  double clip_norm = 0, weight_decay = 0, label_smoothing = 0;
  uint64_t seed = 0;
  double ema_decay = 0;
  int64_t accumulate_steps = 1;
  bool shuffle = true, deterministic = false;
  std::string float32_matmul_precision;  // "highest", "high"
  std::string cuda_graph;                // "auto", "true", "false"
  bool async_checkpoint = false, restore_position = true;
  bool coupled_decay = false;  // weight decay is part of the gradient, as in Goyal et al. 2017
  std::vector<double> piecewise{0.5, 0.75};  // parts of training after which the rate is a tenth
  std::map<std::string, std::string> more_flags;  // those of one program, which workers agree on
  std::string coordinator;                        // "auto", "true", "false"
  int sync_replicas = 0;                          // 0: asynchronous
  bool elastic = false;                           // workers may leave and join
  int min_workers = 1, max_workers = 0;           // then; 0: all of the cluster
  int64_t max_staleness = -1;
  bool bf16_on_wire = false;
  bool metric_lines = false;
  double eval_timeout = 0;
  std::string preemption_notice;     // platform whose metadata server is asked; "": none
  distribute::ClusterFlags cluster;  // --job_name, --task_index, ...; instead of TF_CONFIG
};

/// Reads the command line. Prints one line and ends the process
/// with status 2 on a wrong flag.
TrainerOptions parse_options(int argc, char** argv, const std::string& usage);
/// Whether the last parse_options met the flag, such as "steps".
bool given(const std::string& flag);

/// Ends the process with status 2 and a line that lists `known` unless the value is one of them.
void require_one_of(const char* flag, const std::string& value,
                    const std::vector<std::string>& known);

/// Prints "error: message" on standard error and gives the exit status for wrong usage, 2.
int usage_error(const std::string& message);

}  // namespace examples
