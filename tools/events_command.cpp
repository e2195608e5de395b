#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace distribute_tools {

using namespace distribute;
using Json = nlohmann::ordered_json;

void find_event_files(io::FileSystem& files, const std::string& directory,
                      std::vector<std::string>& found) {
  std::vector<std::string> names = value_or_throw(files.list_directory(directory));
  std::sort(names.begin(), names.end());
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    const std::string path = io::join_path(directory, name);
    if (value_or_throw(files.is_directory(path)))
      folders.push_back(path);
    else if (name.find("tfevents") != std::string::npos)
      found.push_back(path);
  }
  for (const std::string& folder : folders) find_event_files(files, folder, found);
}

/// The file itself, or all event files of a directory and below it in the order of their names.
std::vector<std::string> event_files(const std::string& path) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(path));
  if (!value_or_throw(files.exists(path)))
    throw NotFoundError(path + ": no such file or directory");
  if (!value_or_throw(files.is_directory(path))) return {path};
  std::vector<std::string> found;
  find_event_files(files, path, found);
  if (found.empty()) throw NotFoundError(path + ": the directory has no event file");
  return found;
}

Json to_json(const summary::Event& event, const summary::Event::Entry& entry) {
  Json json = {{"step", event.step},
               {"wall_time", event.wall_time},
               {"tag", entry.tag},
               {"plugin", entry.plugin}};
  json["dtype"] = entry.dtype ? Json(io::name_of(io::DataType(entry.dtype))) : Json(nullptr);
  json["shape"] = entry.dims;
  json["value"] = entry.has_number ? Json(entry.number) : Json(nullptr);
  return json;
}

void print_line(const Json& json) {
  const std::string tag = json["tag"], plugin = json["plugin"];
  const std::string value =
      json["value"].is_null() ? (json["dtype"].is_null() ? "" : json["dtype"].get<std::string>()) +
                                    " " + distribute::json_text(json["shape"])
                              : distribute::json_text(json["value"]);
  std::printf("%8lld  %-12s %-32s %s\n", json["step"].get<long long>(), plugin.c_str(), tag.c_str(),
              value.c_str());
}

void list_file(const std::string& path, bool several, bool json, Json& all) {
  if (several && !json) std::printf("%s\n", path.c_str());
  auto reader = value_or_throw(io::RecordReader::open(path));
  for (std::string record; value_or_throw(reader.next(record));) {
    const summary::Event event = summary::decode_event(record, path);
    for (const auto& entry : event.entries) {
      Json line = to_json(event, entry);
      if (several) line["file"] = path;
      if (json)
        all.push_back(line);
      else
        print_line(line);
    }
  }
}

int list_events(const std::string& where, bool json) {
  int status = 0;
  Json all = Json::array();
  const auto complain = [&](const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "distribute events ls: %s\n", error.what());
    status = 1;
  };
  std::vector<std::string> files;
  try {
    files = event_files(where);
  } catch (const std::exception& error) {
    complain(error);
  }
  for (const std::string& path : files) try {
      list_file(path, files.size() > 1, json, all);
    } catch (const std::exception& error) {  // what came before it and in other files is shown
      complain(error);
    }
  if (json && (status == 0 || !all.empty()))
    std::printf("%s\n", distribute::json_text(all, 2).c_str());
  return status;
}

Command events_command() {
  return make_command<JsonOptions>(
      "events ls", "FILE|DIR",
      "what TensorBoard's event files hold; of a folder all, also those of folders in it",
      {{"json", &JsonOptions::json, "print JSON instead of a table"}},
      [](const JsonOptions& options, const CommandLine& line) {
        return list_events(line.words[0], options.json);
      });
}

}  // namespace distribute_tools
