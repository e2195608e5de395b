#include "command.hpp"

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

namespace distribute_tools {

std::string whole_number(const std::string& text) {
  double number = 0;
  const bool small = absl::SimpleAtod(text, &number) && std::fabs(number) < 1e15;
  return small && number == std::floor(number) ? absl::StrCat(int64_t(number)) : text;
}

std::string value_problem(const CommandFlag& flag, const std::string& text, bool parsed,
                          const std::string& out_of_range) {
  if (!parsed) return absl::StrCat("flag --", flag.name, ": bad value '", text, "'");
  const bool number = flag.rule.known.empty();  // the complaint about a text has it already
  return out_of_range.empty() || !number ? out_of_range : out_of_range + ", not " + text;
}

std::string initial_text(const CommandFlag& flag, void* fresh) {
  const std::string text = flag.text(fresh);
  return flag.read(fresh, text).empty() ? text : "";
}

int usage_error(const std::string& command, const std::string& message) {
  const char* name = command.c_str();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name, with_short_words(message).c_str(), name);
  return 2;
}

long CommandLine::count(const std::string& flag) const {
  return std::count_if(flags.begin(), flags.end(),
                       [&](const auto& given) { return given.first.name == flag; });
}

std::string CommandLine::fill(void* options, const std::vector<CommandFlag>& table) const {
  for (const auto& [flag, text] : flags)
    if (const std::string problem = flag.read(options, text); !problem.empty()) return problem;
  std::map<std::string, std::string> values;
  for (const CommandFlag& flag : table) values[flag.name] = flag.text(options);
  for (const auto& [flag, text] : flags)
    if (const auto problem = misplaced(flag.name, flag.rule, values); !problem.empty())
      return problem;
  return "";
}

namespace {

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }
bool is_help(const std::string& word) {
  return absl::StartsWith(word, "--help") || word == "-help" ||
         word == "-h";  // --helpfull is Abseil's
}

std::string full_name(const Command& command) {
  return command.name.empty() ? command.program : command.program + " " + command.name;
}

/// What follows the command's words belongs to another program, as with `distribute run`.
bool has_program(const Command& command) { return absl::StartsWith(command.arguments, "--"); }

Words words_of(const std::string& text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

bool begins_with(const Words& words, const Words& start) {
  return start.size() <= words.size() && std::equal(start.begin(), start.end(), words.begin());
}

/// The words with blanks between them, in lines for a terminal of 80 columns.
std::string wrapped(const std::string& first, const Words& words, size_t indent) {
  std::string text = first;
  size_t column = first.size();
  for (const std::string& word : words) {
    if (column + 1 + word.size() > 79) {
      absl::StrAppend(&text, "\n", std::string(indent - 1, ' '));
      column = indent - 1;
    }
    absl::StrAppend(&text, " ", word);
    column += 1 + word.size();
  }
  return text + "\n";
}

/// "[--transport=auto|shm|tcp]".
std::string usage_of(const CommandFlag& flag) {
  const std::string value =
      flag.rule.known.empty() ? flag.value : absl::StrJoin(flag.rule.known, "|");
  return absl::StrCat("[--", flag.name, value.empty() ? "" : "=", value, "]");
}

void print_usage(const Command& command) {
  constexpr size_t kMostFlags = 10;  // more of them are left to the list
  Words pieces;
  if (!has_program(command)) pieces = words_of(command.arguments);
  if (command.flags.size() > kMostFlags) pieces.push_back("[flags]");
  if (pieces.empty() || pieces.back() != "[flags]")
    for (const CommandFlag& flag : command.flags) pieces.push_back(usage_of(flag));
  if (has_program(command)) pieces.push_back(command.arguments);
  std::printf("%s%s", wrapped("  " + full_name(command), pieces, 13).c_str(),
              wrapped("     ", words_of(command.help), 6).c_str());
}

void print_flags(const Command& command) {
  std::string group;
  for (const CommandFlag& flag : command.flags) {
    if (flag.group != group) std::printf("\n  %s\n", flag.group.c_str());
    group = flag.group;
    const std::string name =
        absl::StrCat("    --", flag.name, flag.value.empty() ? "" : "=", flag.value);
    const std::string initial = flag.is_switch ? "" : command.initial(flag);
    const std::string help =
        absl::StrCat(flag.rule.help(flag.help), initial.empty() ? "" : "; default: ", initial);
    std::printf("%s", wrapped(name + " ", words_of(help), 8).c_str());
  }
}

int print_help(const std::vector<Command>& commands, bool with_flags) {
  std::printf("usage:\n");
  for (const Command& command : commands) {
    print_usage(command);
    if (with_flags) print_flags(command);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

/// Of the commands that begin with `words`; of all where there is none.
int print_help_of(const std::vector<Command>& commands, const Words& words) {
  std::vector<Command> shown;
  for (const Command& command : commands)
    if (!words.empty() && begins_with(words_of(command.name), words)) shown.push_back(command);
  if (!shown.empty()) return print_help(shown, true);
  std::printf("distribute: tools around training jobs; COMMAND --help shows its flags.\n\n");
  return print_help(commands, false);
}

/// The longest of the commands with which `words` begin.
const Command* find_command(const std::vector<Command>& commands, const Words& words) {
  const Command* found = nullptr;
  size_t longest = 0;
  for (const Command& command : commands) {
    const Words name = words_of(command.name);
    if (!begins_with(words, name) || name.size() <= longest) continue;
    found = &command;
    longest = name.size();
  }
  return found;
}

int unknown_command(const std::string& word, const Words& known) {
  const std::string nearest = nearest_of(word, known);
  return usage_error("distribute",
                     absl::StrCat("unknown command '", word, "'",
                                  nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

/// What is wrong with flags, the first of which is `flag`, behind the bare name of the program.
int only_flags(const std::string& flag) {
  const std::string name(absl::StripPrefix(absl::StripPrefix(flag, "-"), "-"));
  const std::string nearest = nearest_of(name.substr(0, name.find('=')), {"help", "version"});
  return usage_error("distribute",
                     absl::StrCat("unknown flag ", flag.substr(0, flag.find('=')),
                                  nearest.empty() ? ": a command comes first"
                                                  : "; did you mean --" + nearest + "?"));
}

int no_command(const std::vector<Command>& commands, const Words& words) {
  Words groups, known;
  for (const Command& command : commands) {
    const Words name = words_of(command.name);
    if (groups.empty() || groups.back() != name[0]) groups.push_back(name[0]);
    if (!words.empty() && name[0] == words[0]) known.push_back(command.name);
  }
  if (words.empty()) return usage_error("distribute", "say what to do: " + alternatives(groups));
  if (known.empty()) return unknown_command(words[0], groups);
  if (words.size() > 1) return unknown_command(words[0] + " " + words[1], known);
  return usage_error("distribute", "say what to do: " + alternatives(known));
}

/// Reads what follows the name of a command.
class Parser {
 public:
  Parser(const std::vector<Command>& commands, const Command& command)
      : commands_(commands), command_(command), names_(words_of(command.name).size()) {}

  /// Returns a complaint, "" if there is none.
  std::string parse(const Words& arguments) {
    for (size_t i = 0; i < arguments.size() && !help; ++i) {
      const std::string& word = arguments[i];
      const bool ends = word == "--" || (!is_flag(word) && names_ == 0 && has_program(command_));
      if (ends) {
        line.words.insert(line.words.end(), arguments.begin() + long(i + (word == "--")),
                          arguments.end());
        break;
      }
      const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
      if (is_help(word))
        help = true;
      else if (!is_flag(word))
        names_ > 0 ? void(--names_) : line.words.push_back(word);
      else if (const std::string problem = take_flag(word, next); !problem.empty())
        return problem;
      else
        i += took_next_;
    }
    return help ? "" : problem_of_count();
  }

  CommandLine line;
  bool help = false;

 private:
  template <typename Flags>
  static const CommandFlag* find(const Flags& flags, const std::string& name) {
    for (const CommandFlag& flag : flags)
      if (flag.name == name) return &flag;
    return nullptr;
  }

  std::string take_flag(const std::string& word, const std::string* next) {
    static const CommandFlag built_in[] = {{"flagfile"}, {"fromenv"}, {"tryfromenv"}, {"undefok"}};
    const std::string body = word.substr(word[1] == '-' ? 2 : 1),
                      name = body.substr(0, body.find('='));
    took_next_ = false;
    const bool has_value = name.size() < body.size();
    const CommandFlag* flag = find(command_.flags, name);
    if (!flag) flag = find(built_in, name);
    if (!flag && !has_value && absl::StartsWith(name, "no"))
      if (const CommandFlag* negated = find(command_.flags, name.substr(2));
          negated && negated->is_switch)
        return line.flags.emplace_back(*negated, "false"), "";
    if (!flag) return may_be_unknown_.contains(name) ? "" : unknown(name);
    std::string value = has_value ? body.substr(name.size() + 1) : "true";
    took_next_ = !has_value && !flag->is_switch;
    if (took_next_ && !next) return "flag --" + name + " needs a value";
    if (took_next_) value = *next;
    if (!flag->read) return take_built_in(name, value);
    line.flags.emplace_back(*flag, value);
    return "";
  }

  /// What flags that every program has stand for.
  std::string take_built_in(const std::string& name, const std::string& value) {
    const bool took_next = took_next_;
    Words words;
    for (const std::string& one : Words(absl::StrSplit(value, ',', absl::SkipEmpty()))) {
      const auto variable = distribute::Environment()("FLAGS_" + one);
      if (name == "undefok")
        may_be_unknown_.insert(one);
      else if (name == "flagfile") {
        if (++files_ > 100) return "cannot read --flagfile=" + one + ": it names itself";
        try {
          for (std::string text :
               Words(absl::StrSplit(distribute::untrusted::read_text_file(one), '\n')))
            if (absl::StripAsciiWhitespace(&text); is_flag(text)) words.push_back(text);
        } catch (const distribute::Error& error) {
          return absl::StrCat("cannot read --flagfile=", one, ": ", error.what());
        }
      } else if (variable)
        words.push_back(absl::StrCat("--", one, "=", *variable));
      else if (name == "fromenv")
        return absl::StrCat("--fromenv=", one, ": FLAGS_", one, " is not set");
    }
    for (const std::string& word : words)
      if (const std::string problem = take_flag(word, nullptr); !problem.empty()) return problem;
    took_next_ = took_next;
    return "";
  }

  std::string unknown(const std::string& name) const {
    Words owners, names;
    for (const Command& other : commands_)
      if (find(other.flags, name)) owners.push_back(other.name);
    if (!owners.empty())
      return absl::StrCat("flag --", name, " does nothing here; it is for ", alternatives(owners));
    for (const CommandFlag& flag : command_.flags) names.push_back(flag.name);
    const std::string nearest = nearest_of(name, names);
    return absl::StrCat("unknown flag --", name,
                        nearest.empty() ? "" : "; did you mean --" + nearest + "?");
  }

  std::string problem_of_count() const {
    if (has_program(command_)) return line.words.empty() ? "say which program to run" : "";
    const size_t wanted = words_of(command_.arguments).size(), given = line.words.size();
    const bool optional = absl::StartsWith(command_.arguments, "[");
    if (given < wanted && !optional) return "give " + command_.arguments;
    if (given > wanted && !absl::StrContains(command_.arguments, "..."))
      return "unexpected argument '" + line.words[wanted] + "'" +
             nearest_command(line.words[wanted]);
    return "";
  }

  /// Returns "; did you mean cluster make?" for "mke" behind "cluster".
  std::string nearest_command(const std::string& word) const {
    Words longer;
    for (const Command& other : commands_)
      if (absl::StartsWith(other.name, command_.name + " ")) longer.push_back(other.name);
    const std::string nearest = nearest_of(command_.name + " " + word, longer);
    return nearest.empty() ? "" : "; did you mean " + nearest + "?";
  }

  const std::vector<Command>& commands_;
  const Command& command_;
  size_t names_;  // words of the command's name that are still to come
  bool took_next_ = false;
  std::set<std::string> may_be_unknown_;
  int files_ = 0;  // that --flagfile has named; they may name each other
};

}  // namespace

Command version_command() {
  const auto run = [](const CommandLine&) {
    return std::printf("distribute version %s\n", distribute::kVersion) < 0 ? 1 : 0;
  };
  return {.name = "version", .arguments = "", .help = "The version; also --version.", .run = run};
}

Command help_command(const std::vector<Command>& commands) {
  const auto run = [&commands](const CommandLine& line) {
    const bool known = std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
      return begins_with(words_of(command.name), line.words);
    });
    return known ? print_help_of(commands, line.words) : no_command(commands, line.words);
  };
  return {.name = "help",
          .arguments = "[COMMAND...]",
          .help = "The commands, or the flags of one; also COMMAND --help.",
          .run = run};
}

int run_commands(const std::vector<Command>& commands, const Words& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  Words plain;
  std::remove_copy_if(arguments.begin(), end, std::back_inserter(plain), is_flag);
  const Command* command = find_command(commands, plain);
  const auto is_version = [](const auto& word) {
    return word == "--version" || word == "-version";
  };
  if (plain.empty() && std::any_of(arguments.begin(), end, is_version))
    return version_command().run({});
  if (!command && plain.empty() && end != arguments.begin() &&
      std::none_of(arguments.begin(), end, is_help))
    return only_flags(arguments[0]);
  if (!command)
    return std::any_of(arguments.begin(), end, is_help) ? print_help_of(commands, plain)
                                                        : no_command(commands, plain);
  const std::string name = full_name(*command);
  Parser parser(commands, *command);
  const std::string problem = parser.parse(arguments);
  if (parser.help) return print_help_of(commands, words_of(command->name));
  if (!problem.empty()) return usage_error(name, problem);
  if (const std::string log = distribute::LogOptions::from_environment().problem; !log.empty())
    return usage_error(name, log);
  try {
    return command->run(parser.line);
  } catch (const UsageProblem& wrong) {
    return usage_error(name, wrong.what());
  } catch (const std::exception& error) {
    const std::string text = with_short_words(distribute::error_text(error));
    std::fprintf(stderr, "%s: %s\n", name.c_str(), text.c_str());
    return 1;
  }
}

CommandLine read_command_line(const Command& program, const Words& arguments,
                              const std::function<void()>& if_wrong) {
  const std::vector<Command> alone{program};
  Parser parser(alone, program);
  const std::string problem = parser.parse(arguments);
  if (parser.help) std::exit(distribute::check_stdout(print_help(alone, true)));
  if (problem.empty()) return parser.line;
  const int status = usage_error(program.program, problem);
  if (if_wrong) if_wrong();
  std::exit(status);
}

}  // namespace distribute_tools
