#pragma once
/// Where each worker writes: the chief at the real path, the others below `workertemp_<task id>`.

#include <distribute/base/config.hpp>

#include <functional>
#include <memory>
#include <optional>
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

struct WorkerSaveOptions {  // options of WorkerSave
  /// Workers other than the chief write below `workertemp_<id>` in here; empty: beside the path.
  std::string worker_directory = {};
  /// The path is the prefix of a checkpoint's files.
  bool is_checkpoint = false;
  /// The ending of another file that belongs to the one at the path; empty: there is none.
  std::string second_file = {};
  /// Whether undoing removes what is at the path; none: when nothing was there at the beginning.
  std::optional<bool> is_new = {};
};

/// One save, which all workers make together and which ends alike on all: with commit(), or undone.
///
///     WorkerSave save(strategy, path);
///     save.run([&] { write(save.path()); });
///     save.commit();
///
/// The chief writes at the path, the others below `workertemp_<id>`, which they remove. After an
/// error of one worker, and where commit() is not reached, nothing stays but what was there before:
/// the chief removes what it has written, unless it took the place of something older or the
/// `checkpoint` file names it; no other worker is left waiting. Thread-compatible.
class [[nodiscard]] WorkerSave {
 public:
  /// Begins; the chief removes the temporary directories of workers that the job does not have.
  /// Blocks  until every worker has called it.
  WorkerSave(Strategy& strategy, const std::string& path, WorkerSaveOptions options = {});
  /// Of this process alone, which writes at the path.
  explicit WorkerSave(const std::string& path, WorkerSaveOptions options = {});
  /// Undoes what is not committed, and tells the other workers; a failure to do so is logged.
  ~WorkerSave();
  WorkerSave(const WorkerSave&) = delete;
  WorkerSave& operator=(const WorkerSave&) = delete;

  /// Where this worker writes.
  const std::string& path() const;
  bool is_chief() const;
  /// Runs `part` here, which may take long; an error comes out of agree() or commit(), on all
  /// workers. Nothing happens after an error. `part` does nothing together with other workers.
  void run(const std::function<void()>& part);
  void run_on_chief(const std::function<void()>& part);
  /// Blocks  until what every worker has run so far is done.
  /// Throws  on every worker the error of the first that failed, with its rank in the message; then
  ///         all is undone.
  void agree();
  /// The end: agree(), and what was written stays.
  void commit();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace train

namespace checkpoint_internal {

/// Runs `read` on every worker; one that cannot find the file is told where it should be.
/// Blocks, throws  as strategy_internal::on_all_workers.
void read_on_all_workers(Strategy& strategy, const std::function<void()>& read);

}  // namespace checkpoint_internal
}  // namespace distribute
