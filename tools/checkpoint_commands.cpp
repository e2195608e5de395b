#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/train/checkpoint_files.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace distribute_tools {

namespace train = distribute::train;
using train::BundleReader;
using Json = nlohmann::ordered_json;

/// Names in files need not be UTF-8.
void print_json(const Json& json) { std::printf("%s\n", distribute::json_text(json, 2).c_str()); }

int list_tensors(const std::string& path, bool json) {
  const BundleReader reader(train::find_checkpoint(path));
  Json tensors = Json::array();
  int64_t total = 0;
  for (const std::string& key : reader.keys()) {
    const auto& entry = reader.entry(key);
    total += train::num_bytes(entry);
    tensors.push_back({{"name", key},
                       {"dtype", distribute::io::name_of(entry.dtype)},
                       {"shape", entry.dims},
                       {"bytes", train::num_bytes(entry)},
                       {"slices", entry.slices.size()}});
    if (!json) std::printf("%-28s %s\n", train::type_text(entry).c_str(), key.c_str());
  }
  const auto count = tensors.size();
  if (json)
    print_json(
        {{"prefix", reader.prefix()}, {"shards", reader.num_shards()}, {"tensors", tensors}});
  else
    std::printf("%s: %zu tensors, %lld bytes, %d data file(s)\n", reader.prefix().c_str(), count,
                static_cast<long long>(total), reader.num_shards());
  return 0;
}

/// Reads every tensor of one checkpoint; damaged ones go to the list.
Json verify_one(const std::string& prefix) {
  Json report = {{"prefix", prefix}, {"tensors", 0}, {"bytes", 0}, {"damaged", Json::array()}};
  std::string key;
  std::string last;
  const auto note = [&](const distribute::Error& error) {
    // A data file that cannot be opened has the same words for each of its tensors.
    if (last == error.what()) return;
    last = error.what();
    report["damaged"].push_back({{"name", key}, {"reason", error.what()}});
  };
  try {
    BundleReader reader(prefix);
    int64_t bytes = 0;
    for (const std::string& next : reader.keys()) {
      key = next;
      try {
        reader.verify(key);
        bytes += train::num_bytes(reader.entry(key));
      } catch (const distribute::Error& error) {
        note(error);
      }
    }
    report["tensors"] = reader.keys().size();
    report["bytes"] = bytes;
  } catch (const distribute::Error& error) {  // the index
    key.clear();
    note(error);
  }
  return report;
}

int verify(const std::string& path, bool json) {
  Json reports = Json::array();
  bool good = true;
  for (const std::string& prefix : train::find_checkpoints(path)) {
    const Json report = verify_one(prefix);
    good = good && report["damaged"].empty();
    reports.push_back(report);
    for (const Json& bad : report["damaged"])
      std::fprintf(stderr, "distribute ckpt verify: %s\n",
                   bad["reason"].get<std::string>().c_str());
    if (!json && report["damaged"].empty())
      std::printf("%s: good, %lld tensors, %lld bytes\n", prefix.c_str(),
                  report["tensors"].get<long long>(), report["bytes"].get<long long>());
  }
  if (json) print_json(reports);
  return good ? 0 : 1;
}

/// The flags of these commands, which their tables explain.
struct CheckpointOptions {
  bool json = false;
  double tolerance = 0;
  std::string names = "variable";
};

int diff(const std::string& a, const std::string& b, const CheckpointOptions& options) {
  BundleReader left(train::find_checkpoint(a)), right(train::find_checkpoint(b));
  const auto differences = train::compare_checkpoints(left, right, options.tolerance);
  Json list = Json::array();
  for (const train::TensorDifference& one : differences) {
    list.push_back({{"name", one.name}, {"difference", one.reason}});
    if (!options.json) std::printf("%s: %s\n", one.name.c_str(), one.reason.c_str());
  }
  if (options.json)
    print_json({{"a", left.prefix()}, {"b", right.prefix()}, {"differences", list}});
  else
    std::printf("%zu tensors, %zu differ\n", left.keys().size(), differences.size());
  return differences.empty() ? 0 : 1;
}

int convert(const std::string& from, const std::string& to, const CheckpointOptions& options) {
  BundleReader reader(train::find_checkpoint(from));
  if (reader.prefix() == to)
    throw distribute::InvalidArgumentError(to + ": a checkpoint cannot be written over itself");
  const int count = train::write_flat_checkpoint(
      reader, to, options.names == "path" ? train::FlatNames::Paths : train::FlatNames::Variables);
  if (options.json)
    print_json({{"prefix", to}, {"tensors", count}});
  else
    std::printf("%s: %d tensors under flat names\n", to.c_str(), count);
  return 0;
}

std::vector<Command> checkpoint_commands() {
  using O = CheckpointOptions;
  const Row<O> json{"json", &O::json, "print JSON instead of a table"};
  return {
      make_command<O>(
          "ckpt ls", "PREFIX|DIR", "tensors of a checkpoint; of a directory the newest one", {json},
          [](const O& o, const CommandLine& line) { return list_tensors(line.words[0], o.json); }),
      make_command<O>(
          "ckpt verify", "PREFIX|DIR",
          "reads everything and checks it; of a directory all checkpoints", {json},
          [](const O& o, const CommandLine& line) { return verify(line.words[0], o.json); }),
      make_command<O>("ckpt diff", "A B",
                      "what differs between two checkpoints; exit status 1 if anything does",
                      {{"tolerance=X", &O::tolerance, at_least(0),
                        "largest difference of numbers that counts as none"},
                       json},
                      [](const O& o, const CommandLine& line) {
                        return diff(line.words[0], line.words[1], o);
                      }),
      make_command<O>("ckpt convert", "FROM TO",
                      "writes an object-based checkpoint under flat names",
                      {{"names=N", &O::names, one_of("variable", "path"),
                        "flat names are those of the variables, or the paths of objects"},
                       json},
                      [](const O& o, const CommandLine& line) {
                        return convert(line.words[0], line.words[1], o);
                      })};
}

}  // namespace distribute_tools
