#include "flags.hpp"

#include "flag_rule.hpp"

#include <absl/flags/parse.h>
#include <absl/flags/reflection.h>
#include <absl/flags/usage.h>
#include <absl/flags/usage_config.h>
#include <absl/strings/match.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace distribute_tools {

std::string program_name;
std::vector<std::string> met_flags;

const std::vector<std::string>& given_flags() { return met_flags; }

/// The programs' own flags, wherever they are defined: --help lists these.
bool is_own(absl::string_view file) {
  return absl::StrContains(file, "examples/") || absl::StrContains(file, "tools/");
}

int usage_error(const std::string& command, const std::string& message) {
  const char* name = command.c_str();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name, message.c_str(), name);
  return 2;
}

[[noreturn]] void reject(const std::string& message) {
  std::exit(usage_error(program_name, message));
}

/// Abseil ends with status 1 after it has shown the help that was asked for.
void succeed() {
  std::fflush(nullptr);
  std::_Exit(0);
}

/// "; did you mean --steps?" where a flag of the program is spelled nearly so.
std::string suggestion(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, flag] : absl::GetAllFlags())
    if (is_own(flag->Filename())) names.emplace_back(known);
  const std::string nearest = nearest_of(name, names);
  return nearest.empty() ? "" : "; did you mean --" + nearest + "?";
}

/// Exits with status 2 unless `name` (or `name` behind `no`) is a flag that takes `value`.
/// Returns whether the value is the next argument.
bool check_flag(const std::string& name, bool has_value, std::string value, const char* next) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr && name.rfind("no", 0) == 0 && !has_value) {
    flag = absl::FindCommandLineFlag(name.substr(2));
    if (flag != nullptr && flag->IsOfType<bool>()) {
      met_flags.emplace_back(flag->Name());
      return false;
    }
  }
  if (flag == nullptr) reject("unknown flag --" + name + suggestion(name));
  met_flags.emplace_back(flag->Name());
  const bool takes_next = !has_value && !flag->IsOfType<bool>();
  if (takes_next && next == nullptr) reject("flag --" + name + " needs a value");
  if (takes_next) value = next;
  if (!has_value && !takes_next) return false;
  std::string problem;
  if (!flag->ParseFrom(value, &problem)) reject("flag --" + name + ": bad value '" + value + "'");
  return takes_next;
}

void set_help() {
  absl::FlagsUsageConfig config;
  config.contains_help_flags = is_own;
  absl::SetFlagsUsageConfig(config);
}

std::vector<std::string> parse_flags(int argc, char** argv) {
  set_help();
  const std::string path = argv[0];
  program_name = path.substr(path.rfind('/') + 1);
  met_flags.clear();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string_view body = word.substr(word[1] == '-' ? 2 : 1);
    const size_t equals = body.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string name(body.substr(0, equals));
    if (name.rfind("help", 0) == 0) {  // Abseil prints it and ends the program
      std::atexit(succeed);
      break;
    }
    const std::string value(has_value ? body.substr(equals + 1) : "");
    if (check_flag(name, has_value, value, i + 1 < argc ? argv[i + 1] : nullptr)) ++i;
  }
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  return {rest.begin() + 1, rest.end()};
}

}  // namespace distribute_tools
