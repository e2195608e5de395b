#pragma once
/// The flags that every example trainer takes, read and checked.

#include "tools/command.hpp"

#include <distribute/cluster/cluster_resolvers.hpp>

#include <absl/flags/marshalling.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// --json alone prints to standard output, "-"; --json=FILE writes a file.
struct JsonTarget {
  std::optional<std::string> value = {};
};
bool AbslParseFlag(absl::string_view text, JsonTarget* target, std::string* error);
std::string AbslUnparseFlag(const JsonTarget& target);

/// Values of the flags, whose meaning and defaults are in trainer_flags.inc and, of those of the
/// base, in tools/cluster_flags.inc, and what follows.
struct TrainerOptions : distribute::ClusterFlags {
#define GROUP(heading)
#define FLAG(type, name, value, rule, help) type name = value;
#include "trainer_flags.inc"
#undef FLAG
#undef GROUP
  bool coupled_decay = false;  // weight decay is part of the gradient, as in Goyal et al. 2017
  std::vector<double> piecewise{0.5, 0.75};  // parts of training after which the rate is a tenth
  std::map<std::string, std::string> more_flags;  // those of one program, which workers agree on

  /// --job_name, --task_index, ...; instead of TF_CONFIG.
  const distribute::ClusterFlags& cluster() const { return *this; }
};

/// The rows of both tables.
const std::vector<distribute_tools::CommandFlag>& trainer_flags();
/// What tasks have to be started with alike, by flag, of those in `table`, which `options` has.
std::map<std::string, std::string> agreed_values(
    const std::vector<distribute_tools::CommandFlag>& table, const void* options);
/// The first flag on the command line that does nothing with these options, as an error; "" when
/// there is none. `strategy`: the one in use, "" while it is not known.
std::string misplaced_flag(const TrainerOptions& options, const std::string& strategy);

/// Reads the command line. Prints one line and ends the process
/// with status 2 on a wrong flag. `own`: flags of the program alone, which fill `own_options`.
TrainerOptions parse_options(int argc, char** argv, const std::string& usage,
                             const std::vector<distribute_tools::CommandFlag>& own = {},
                             void* own_options = nullptr);
/// Whether the last parse_options met the flag, such as "steps".
bool given(const std::string& flag);

/// Prints "error: message" on standard error and gives the exit status for wrong usage, 2.
int usage_error(const std::string& message);

/// Ends the process with status 2 and this line, unless it is empty.
void check_flag(const std::string& problem);

}  // namespace examples
