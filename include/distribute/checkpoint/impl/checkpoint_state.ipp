#pragma once
#include <distribute/checkpoint/checkpoint_state.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace distribute::checkpoint_internal {

/// Returns a quoted string with C escapes; bytes outside ASCII in octal, as protobuf writes them.
DISTRIBUTE_INLINE std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = uint8_t(c);
    if (c == '"' || c == '\\' || c == '\'') {
      quoted.append("\\").append(1, c);
    } else if (byte >= 32 && byte < 127) {
      quoted += c;
    } else {
      const char octal[] = {'\\', char('0' + (byte >> 6)), char('0' + ((byte >> 3) & 7)),
                            char('0' + (byte & 7))};
      quoted.append(octal, 4);
    }
  }
  return quoted + "\"";
}

/// Returns the shortest text that reads back as the same number, with a point as Python prints it.
DISTRIBUTE_INLINE std::string number_text(double value) {
  std::string text = base_internal::exact_word(value);
  if (text.find_first_of(".eni") == std::string::npos) text += ".0";
  return text;
}

/// Reads protobuf text format as far as the state file needs it: scalar fields, comments.
class StateParser {
 public:
  StateParser(std::string_view text, const std::string& file) : rest_(text), file_(file) {}
  train::CheckpointState parse();

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataLossError(str_cat(file_, ":", line_, ": ", reason));
  }
  void skip_space();
  std::string name();
  std::string string();
  char escaped();
  double number();

  std::string_view rest_;
  const std::string& file_;
  int line_ = 1;
};

DISTRIBUTE_INLINE void StateParser::skip_space() {
  bool in_comment = false;
  while (!rest_.empty()) {
    const char c = rest_.front();
    if (c == '#') in_comment = true;
    if (c == '\n') in_comment = false;
    if (c == '\n') ++line_;
    const bool space = std::string_view(" \t\r\n").find(c) != std::string_view::npos;
    if (!space && !in_comment) return;
    rest_.remove_prefix(1);
  }
}

DISTRIBUTE_INLINE std::string StateParser::name() {
  size_t size = 0;
  while (size < rest_.size() && (std::isalnum(uint8_t(rest_[size])) || rest_[size] == '_')) ++size;
  if (size == 0) fail("wanted a field name; the file is damaged or not a checkpoint state");
  const std::string name(rest_.substr(0, size));
  rest_.remove_prefix(size);
  skip_space();
  if (!rest_.starts_with(':')) fail("wanted ':' after " + name);
  rest_.remove_prefix(1);
  skip_space();
  return name;
}

DISTRIBUTE_INLINE char StateParser::escaped() {
  if (rest_.empty()) fail("the text ends inside a string");
  const char c = rest_.front();
  const bool hex = c == 'x' || c == 'X';
  size_t size = hex ? 1 : 0;
  int value = 0;
  for (; size < 3 && size < rest_.size(); ++size) {  // "x41" or "101"
    const char digit = rest_[size];
    const bool is_digit = hex ? std::isxdigit(uint8_t(digit)) != 0 : digit >= '0' && digit <= '7';
    if (!is_digit) break;
    const int number = digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10;
    value = value * (hex ? 16 : 8) + number;
  }
  if (size > (hex ? 1u : 0u)) {
    rest_.remove_prefix(size);
    return char(uint8_t(value));
  }
  const size_t known = std::string_view("abfnrtv\\'\"?").find(c);
  if (known == std::string_view::npos) fail("unknown escape in a string");
  rest_.remove_prefix(1);
  return "\a\b\f\n\r\t\v\\'\"?"[known];
}

DISTRIBUTE_INLINE std::string StateParser::string() {
  std::string text;
  bool any = false;
  while (rest_.starts_with('"') || rest_.starts_with('\'')) {  // pieces in a row are joined
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    while (!rest_.starts_with(quote)) {
      if (rest_.empty() || rest_.front() == '\n') fail("a string has no closing quote");
      const char c = rest_.front();
      rest_.remove_prefix(1);
      text += c == '\\' ? escaped() : c;
    }
    rest_.remove_prefix(1);
    skip_space();
    any = true;
  }
  if (!any) fail("wanted a quoted string");
  return text;
}

DISTRIBUTE_INLINE double StateParser::number() {
  double value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) fail("wanted a number");
  rest_.remove_prefix(size_t(end - rest_.data()));
  skip_space();
  return value;
}

DISTRIBUTE_INLINE train::CheckpointState StateParser::parse() {
  train::CheckpointState state;
  for (skip_space(); !rest_.empty(); skip_space()) {
    const std::string field = name();
    if (field == "model_checkpoint_path") {
      state.model_checkpoint_path = string();
    } else if (field == "all_model_checkpoint_paths") {
      state.all_model_checkpoint_paths.push_back(string());
    } else if (field == "all_model_checkpoint_timestamps") {
      state.all_model_checkpoint_timestamps.push_back(number());
    } else if (field == "last_preserved_timestamp") {
      state.last_preserved_timestamp = number();
    } else {
      fail("unknown field " + field);
    }
    if (rest_.starts_with(',') || rest_.starts_with(';')) rest_.remove_prefix(1);
  }
  if (state.model_checkpoint_path.empty()) fail("model_checkpoint_path is missing or empty");
  return state;
}

/// Returns a checkpoint's number, or -1 if its name has none.
DISTRIBUTE_INLINE int64_t number_of(const std::string& prefix) {
  const char* digits = prefix.data() + (prefix.rfind('-') + 1);  // npos + 1: the whole name
  int64_t number = -1;
  std::from_chars(digits, prefix.data() + prefix.size(), number);
  return number;
}

/// Returns the names of all readable checkpoints in a directory, by number.
DISTRIBUTE_INLINE std::vector<std::string> checkpoints_in(const std::string& directory) {
  constexpr std::string_view kIndex = ".index";
  const auto fs = io::file_system_for(directory);
  const auto names = fs.ok() ? (*fs)->list_directory(directory.empty() ? "." : directory)
                             : absl::StatusOr<std::vector<std::string>>(fs.status());
  std::vector<std::string> found;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>())
    if (name.ends_with(kIndex)) found.push_back(name.substr(0, name.size() - kIndex.size()));
  std::stable_sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return number_of(a) < number_of(b);
  });
  return found;
}

DISTRIBUTE_INLINE std::vector<std::string> numbered_checkpoints(const std::string& directory,
                                                                const std::string& name) {
  std::vector<std::string> prefixes;
  for (const std::string& found : checkpoints_in(directory)) {
    const bool ours = found.starts_with(name + "-") && found.size() > name.size() + 1;
    if (ours && found.find_first_not_of("0123456789", name.size() + 1) == std::string::npos)
      prefixes.push_back(io::join_path(directory, found));
  }
  return prefixes;
}

/// Returns the remedy for a state file that names a missing checkpoint, from the files beside it.
DISTRIBUTE_INLINE std::string cure_of_state(const std::string& directory, const std::string& file) {
  const std::vector<std::string> beside = checkpoints_in(directory);
  if (beside.empty()) return "; remove " + file + " to start anew: no checkpoint lies beside it";
  return str_cat(
      "; write `model_checkpoint_path: ", quote(beside.back()), "` into ", file,
      " to go on from the newest checkpoint beside it, or move what is there away to start "
      "anew");
}

DISTRIBUTE_INLINE bool has_index(const std::string& prefix) {
  const std::string index = train::bundle_index_path(prefix);
  const auto fs = io::file_system_for(index);
  const auto found = fs.ok() ? (*fs)->exists(index) : absl::StatusOr<bool>(fs.status());
  return found.ok() && *found;  // what cannot be looked at is not there
}

/// Makes a path of the state file one of this machine: as it is, else beside the file under the
/// same name, also where it was written on another system.
DISTRIBUTE_INLINE void resolve_path(std::string& path, const std::string& directory) {
  const std::string name = path.substr(path.find_last_of("/\\") + 1);
  const bool beside = name == path;
  path = io::join_path(directory, path);
  if (beside || name.empty() || has_index(path)) return;
  if (const std::string here = io::join_path(directory, name); has_index(here)) path = here;
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string encode_checkpoint_state(const CheckpointState& state) {
  using checkpoint_internal::number_text;
  using checkpoint_internal::quote;
  std::string text = "model_checkpoint_path: " + quote(state.model_checkpoint_path) + "\n";
  for (const std::string& path : state.all_model_checkpoint_paths) {
    text += "all_model_checkpoint_paths: " + quote(path) + "\n";
  }
  for (const double seconds : state.all_model_checkpoint_timestamps) {
    text += "all_model_checkpoint_timestamps: " + number_text(seconds) + "\n";
  }
  if (state.last_preserved_timestamp) {
    text += "last_preserved_timestamp: " + number_text(*state.last_preserved_timestamp) + "\n";
  }
  return text;
}

DISTRIBUTE_INLINE CheckpointState decode_checkpoint_state(std::string_view text,
                                                          const std::string& file) {
  return checkpoint_internal::StateParser(text, file).parse();
}

DISTRIBUTE_INLINE std::optional<CheckpointState> get_checkpoint_state(
    const std::string& checkpoint_dir, const std::string& latest_filename) {
  const std::string file = io::join_path(checkpoint_dir, latest_filename);
  const auto text = io::read_file(file);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  throw_if_error(text.status());
  CheckpointState state;
  try {
    state = decode_checkpoint_state(*text, file);
  } catch (const DataLossError& error) {
    throw DataLossError(error.what() + checkpoint_internal::cure_of_state(checkpoint_dir, file));
  }
  const std::string named = state.model_checkpoint_path;
  checkpoint_internal::resolve_path(state.model_checkpoint_path, checkpoint_dir);
  if (io::join_path(checkpoint_dir, named) != state.model_checkpoint_path) state.moved_from = named;
  for (std::string& path : state.all_model_checkpoint_paths)
    checkpoint_internal::resolve_path(path, checkpoint_dir);
  return state;
}

DISTRIBUTE_INLINE void update_checkpoint_state(const std::string& checkpoint_dir,
                                               CheckpointState state,
                                               const std::string& latest_filename) {
  const auto make_relative = [&](std::string& path) {
    const std::string name = io::file_name_of(path);
    if (path == io::join_path(checkpoint_dir, name)) path = name;
  };
  make_relative(state.model_checkpoint_path);
  for (std::string& path : state.all_model_checkpoint_paths) make_relative(path);
  throw_if_error(io::write_file_atomically(io::join_path(checkpoint_dir, latest_filename),
                                           encode_checkpoint_state(state)));
}

DISTRIBUTE_INLINE std::optional<std::string> latest_checkpoint(const std::string& checkpoint_dir,
                                                               const std::string& latest_filename) {
  const auto state = get_checkpoint_state(checkpoint_dir, latest_filename);
  if (!state) return std::nullopt;
  const std::string index = bundle_index_path(state->model_checkpoint_path);
  io::FileSystem& fs = *value_or_throw(io::file_system_for(index));
  if (!value_or_throw(fs.exists(index))) return std::nullopt;
  return state->model_checkpoint_path;
}

DISTRIBUTE_INLINE std::string why_no_checkpoint(const std::string& checkpoint_dir,
                                                const std::string& latest_filename) {
  const std::string file = io::join_path(checkpoint_dir, latest_filename);
  const auto state = get_checkpoint_state(checkpoint_dir, latest_filename);
  if (state)
    return str_cat(checkpoint_dir, ": ", file, " names ", state->model_checkpoint_path,
                   ", which is not there",
                   checkpoint_internal::cure_of_state(checkpoint_dir, file));
  const auto beside = checkpoint_internal::checkpoints_in(checkpoint_dir);
  if (beside.empty())
    return str_cat(checkpoint_dir, ": the directory has no checkpoint, and no file `",
                   latest_filename, "`");
  return str_cat(checkpoint_dir, ": the directory has checkpoints, but no file `", latest_filename,
                 "` that names one", checkpoint_internal::cure_of_state(checkpoint_dir, file));
}

}  // namespace distribute::train

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE std::string cure_of_missing_checkpoint(const std::string& prefix) {
  const std::string directory = io::directory_of(prefix);
  try {
    const auto state = train::get_checkpoint_state(directory);
    if (!state || state->model_checkpoint_path != prefix) return "";
  } catch (const Error&) {  // the caller has an error of its own to tell
    return "";
  }
  const std::string file = io::join_path(directory, "checkpoint");
  return str_cat("; ", file, " names it", cure_of_state(directory, file));
}

}  // namespace distribute::checkpoint_internal
