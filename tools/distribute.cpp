/// The program `distribute`: one sub-command per tool.
// Object stores, platforms and metrics become part of the program.
#include <distribute/base/exit_status.hpp>
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>

#include <algorithm>

#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace distribute_tools;
  std::vector<Command> commands = {cluster_command(),
                                   make_cluster_command(),
                                   bench_kernels_command(),
                                   bench_all_reduce_command(),
                                   data_save_command(),
                                   data_serve_command(),
                                   doctor_command(),
                                   bench_parameter_servers_command(),
                                   events_command(),
                                   pack_command(),
                                   predict_command(),
                                   run_command(),
                                   top_command()};
  for (const auto& more : {checkpoint_commands(), data_commands(), metrics_commands()})
    commands.insert(commands.end(), more.begin(), more.end());
  commands.insert(commands.end(), {help_command(commands), version_command()});
  std::stable_sort(commands.begin(), commands.end(),
                   [](const Command& a, const Command& b) { return a.name < b.name; });
  return distribute::check_stdout(run_commands(commands, Words(argv + 1, argv + argc)));
}
