#pragma once
/// The command line of a program, with commands such as `distribute` or without. All that is said
/// about a flag (name, range, help, the command it is for) stands once, in its row of a table; its
/// type and default are those of the member of the options that it fills.

#include "flag_rule.hpp"

#include <absl/flags/marshalling.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute_tools {

using Words = std::vector<std::string>;

/// A flag, as parser and help see it. `Row` makes it.
struct CommandFlag {
  std::string name, value = {};  // --name=VALUE; a switch has no value
  std::string help = {};
  FlagRule rule = {};
  bool is_switch = false;
  std::string group = {};  // heading in the help
  /// Puts a text into the options. Returns what is wrong with it; "" if nothing is.
  std::function<std::string(void* options, const std::string& text)> read = {};
  std::function<std::string(const void* options)> text = {};  // the value as it would be written
};

/// "50.0", "5e1" as "50", as tuners send whole numbers; any other text as it is.
std::string whole_number(const std::string& text);

/// The complaint about a value, "" for a good one: `parsed` says whether it is of the flag's type.
std::string value_problem(const CommandFlag& flag, const std::string& text, bool parsed,
                          const std::string& out_of_range);

/// The value of a flag in fresh options; "" where the flag does not take it.
std::string initial_text(const CommandFlag& flag, void* fresh);

/// A row of a table: "name=VALUE", or "name" of a switch, fills the member `field` of `Options`.
template <typename Options>
struct Row : CommandFlag {
  template <typename T, typename Base>
  Row(const std::string& spec, T Base::*field, const FlagRule& takes, const std::string& words) {
    name = spec.substr(0, spec.find('='));
    is_switch = std::is_same_v<T, bool>;
    value = name.size() < spec.size() ? spec.substr(name.size() + 1) : is_switch ? "" : "VALUE";
    help = words;
    rule = takes;
    read = [flag = CommandFlag(*this), field](void* options, const std::string& written) {
      T& to = static_cast<Options*>(options)->*field;
      std::string why;
      bool parsed = absl::ParseFlag(written, &to, &why);
      if (!parsed && !std::is_same_v<T, bool>)
        parsed = absl::ParseFlag(whole_number(written), &to, &why);
      return value_problem(flag, written, parsed,
                           parsed ? problem_of(flag.name, to, flag.rule) : "");
    };
    text = [field](const void* options) {
      return absl::UnparseFlag(static_cast<const Options*>(options)->*field);
    };
  }
  template <typename T, typename Base>
  Row(const std::string& spec, T Base::*field, const std::string& words)
      : Row(spec, field, any(), words) {}
};

/// The rows of a table of flags, each with the heading above it.
template <typename Options>
struct Rows {
  std::vector<Row<Options>> rows = {};
  std::string group = {};

  template <typename T, typename Base>
  void add(const std::string& spec, T Base::*field, const FlagRule& rule, const std::string& help) {
    rows.emplace_back(spec, field, rule, help).group = group;
  }
};

/// Of commands that print a table or, for other programs, JSON.
struct JsonOptions {
  bool json = false;
};

/// What a command line says behind the name of the command.
struct CommandLine {
  std::vector<std::pair<CommandFlag, std::string>> flags = {};  // as they were given
  Words words = {};

  /// How often a flag was given.
  long count(const std::string& flag) const;
  /// Fills `options`. Returns the first complaint, about a value or a flag that does nothing beside
  /// the others.
  std::string fill(void* options, const std::vector<CommandFlag>& table) const;
};

/// Thrown by a command for what no rule of a flag says: status 2, as other wrong usage.
struct UsageProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says on stderr what is wrong with the words behind a program or, with its name, a command:
/// "distribute data". Returns the exit status, 2.
int usage_error(const std::string& command, const std::string& message);

struct Command {
  std::string name;       // "ckpt diff"; "": the program itself
  std::string arguments;  // "A B", "PICTURE...", "[COMMAND...]", "-- PROGRAM [ARGUMENTS]": as many
                          // words are taken
  std::string help;
  std::vector<CommandFlag> flags = {};
  std::function<int(const CommandLine&)> run = {};
  std::function<std::string(const CommandFlag&)> initial = {};  // initial_text()
  std::string program = "distribute";
};

/// `run` takes the filled options and the command line, and returns the exit status; an exception
/// of it is a line on stderr and status 1.
template <typename Options, typename Run>
Command make_command(const std::string& name, const std::string& arguments, const std::string& help,
                     const std::vector<Row<Options>>& rows, Run run) {
  const std::vector<CommandFlag> flags(rows.begin(), rows.end());
  const auto call = [=](const CommandLine& line) {
    Options options;
    if (const std::string problem = line.fill(&options, flags); !problem.empty())
      throw UsageProblem(problem);
    return run(options, line);
  };
  const auto initial = [](const CommandFlag& flag) {
    Options options;
    return initial_text(flag, &options);
  };
  return {name, arguments, help, flags, call, initial};
}

/// The command "version".
Command version_command();
/// The command "help", for those in `commands`, which must outlive it.
Command help_command(const std::vector<Command>& commands);

/// Runs the command that the first words name, or shows help. A wrong word or flag is one line on
/// stderr and status 2. Flags are written --name=VALUE, --name VALUE or with one dash, switches
/// also --noname. As with Abseil's flags, --flagfile=FILE stands for the lines of a file that begin
/// with a dash, --fromenv=a for --a with the value of FLAGS_a, --tryfromenv=a for the same where it
/// is set, and a flag that --undefok names before it may be unknown.
int run_commands(const std::vector<Command>& commands, const Words& arguments);

/// What the command line of a program without commands says. Help that was asked for and what is
/// wrong end the process, with status 0 and 2; `if_wrong` is called before that.
CommandLine read_command_line(const Command& program, const Words& arguments,
                              const std::function<void()>& if_wrong = {});

}  // namespace distribute_tools
