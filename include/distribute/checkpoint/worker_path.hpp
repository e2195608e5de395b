#pragma once
/// Where each worker writes: the chief at the real path, the others below `workertemp_<task id>`.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>

namespace distribute {

class Strategy;

namespace train {

/// The directory this worker writes instead of `dirpath`: itself on the chief, on others
/// `<dirpath>/workertemp_<id>`, which is made.
/// Source  tf_keras distributed_file_utils.write_dirpath
std::string write_dirpath(const std::string& dirpath, Strategy& strategy);
/// The same for a file: `<parent>/workertemp_<id>/<base>`.
std::string write_filepath(const std::string& filepath, Strategy& strategy);

/// Removes this worker's temporary directory below `dirpath`, with what an earlier, killed run left
/// in it; fine when it is not there, and nothing on the chief.
void remove_temp_dirpath(const std::string& dirpath, Strategy& strategy);
void remove_temp_dir_with_filepath(const std::string& filepath, Strategy& strategy);

}  // namespace train

namespace checkpoint_internal {

/// What the chief does around `write`, such as a state file after it.
using AroundWrite = std::function<void(const std::function<void()>& write)>;

/// One save of all workers: `write(path)` everywhere, around it `around` on the chief. Other
/// workers write below `worker_directory` (empty: that of `path`), and remove it.
/// Blocks  until the chief's file is complete.
/// Throws  as strategy_internal::on_all_workers.
void write_on_all_workers(Strategy& strategy, const std::string& path,
                          const std::string& worker_directory,
                          const std::function<void(const std::string& path)>& write,
                          const AroundWrite& around);

/// Runs `read` on every worker; one that cannot find the file is told where it should be.
/// Blocks, throws  as strategy_internal::on_all_workers.
void read_on_all_workers(Strategy& strategy, const std::function<void()>& read);

}  // namespace checkpoint_internal
}  // namespace distribute
