#pragma once
/// The commands of `distribute`. Each is in the file of its name, with its table of flags.

#include "command.hpp"

namespace distribute_tools {

// Exit statuses are 0, 1 (what was asked for failed, or was found to be wrong) and 2 (usage), but
// for `run`: the first failed task's, 127 or 126 when the program is not there or may not be
// executed.
Command bench_all_reduce_command();
Command bench_kernels_command();
Command bench_parameter_servers_command();
std::vector<Command> checkpoint_commands();  // ckpt ls, verify, diff, convert
Command cluster_command();
Command make_cluster_command();
std::vector<Command> data_commands();  // data tfrecord, ls
Command data_save_command();           // of a data service
Command data_serve_command();
Command doctor_command();
Command events_command();
std::vector<Command> metrics_commands();  // metrics token, get
Command pack_command();
Command predict_command();
Command run_command();
Command top_command();

}  // namespace distribute_tools
