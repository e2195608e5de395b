#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/job_token.hpp>
#include <distribute/launch/detail/remote_shell.hpp>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <sstream>
#include <string_view>

#include <unistd.h>

namespace distribute::launch_internal {

/// Reads a mark, and then text up to the mark, which it runs. `read` consumes no further byte, so
/// the rest of stdin, now descriptor 3, is left for the watcher. The text contains no ' because it
/// is quoted by them.
inline constexpr const char* kRemoteReader =
    "exec 3<&0 </dev/null; IFS= read -r end <&3 || exit 255; text=; line=; "
    "while IFS= read -r line <&3 && [ \"$line\" != \"$end\" ]; do text=\"$text$line\n\"; done; "
    "[ \"$line\" = \"$end\" ] || exit 255; unset line end; eval \"$text\"";

/// Stays in the command's group, so that the group's number cannot be given away, and ignores the
/// signals that it sends. Where the shell does not lead a group, only the command is reached.
inline constexpr const char* kRemoteWatcher =
    "(trap '' HUP INT TERM USR1 USR2 QUIT\n"
    " while read -r name; do kill -s \"$name\" -- -$$ || kill -s \"$name\" $$; done\n"
    " kill -s KILL -- -$$ || kill -s KILL $$) <&3 3<&- >/dev/null 2>&1 &\n"
    "exec 3<&-\n";

/// Whether a shell takes it as the name of a variable.
DISTRIBUTE_INLINE bool is_shell_name(std::string_view name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

DISTRIBUTE_INLINE std::string shell_quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE std::vector<std::string> ssh_command(const std::string& ssh,
                                                       const std::string& host) {
  std::istringstream parts(ssh.find_first_not_of(" \t") == std::string::npos ? kDefaultSsh : ssh);
  std::vector<std::string> words;
  for (std::string word; parts >> word;) words.push_back(word);
  words.push_back(host);
  // The other side's login shell may be any shell, as it only sees one quoted word.
  words.push_back(str_cat("exec sh -c '", launch_internal::kRemoteReader, "'"));
  return words;
}

DISTRIBUTE_INLINE std::string remote_script(const std::string& directory,
                                            const std::map<std::string, std::string>& environment,
                                            const std::vector<std::string>& command) {
  using launch_internal::shell_quoted;
  const std::string mark = "end " + random_hex(32) + "\n";
  std::string text = mark;
  for (const auto& [name, value] : environment)
    text += "export " + name + "=" + shell_quoted(value) + "\n";
  text += "cd " + shell_quoted(directory) + " 2>/dev/null\n";
  text += launch_internal::kRemoteWatcher;
  text += "exec";
  for (const std::string& word : command) text += " " + shell_quoted(word);
  return text + "\n" + mark;
}

DISTRIBUTE_INLINE std::string signal_line(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? std::string(name) + "\n" : "";
}

DISTRIBUTE_INLINE std::map<std::string, std::string> forwarded_variables() {
  std::map<std::string, std::string> result;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos &&
        launch_internal::is_shell_name(text.substr(0, equals)) &&
        (text.starts_with("DISTRIBUTE_") || text.starts_with("OMP_")))
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

}  // namespace distribute::launch
