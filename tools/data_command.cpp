#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/data/random.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

namespace distribute_tools {

using namespace distribute;
using Json = nlohmann::ordered_json;

/// The flags of `data tfrecord`, which its table explains.
struct DataOptions {
  std::string input_dir, output_dir, split = "train";
  int64_t shards = 1, first_label = 1;  // ImageNet's labels begin at 1
  bool shuffle = false, strict = false;
  uint64_t seed = 0;
};

/// "train-00003-of-00010".
std::string shard_name(const std::string& split, int64_t shard, int64_t shards) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "-%05lld-of-%05lld", static_cast<long long>(shard),
                static_cast<long long>(shards));
  return split + numbers;
}

/// Old shards beside new ones would be read as one data set.
void check_no_shards(const std::string& directory, const std::string& split) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  if (!value_or_throw(files.exists(directory))) return;
  for (const std::string& name : value_or_throw(files.list_directory(directory)))
    if (name.starts_with(split + "-") && name.find("-of-") != std::string::npos)
      throw AlreadyExistsError(io::join_path(directory, name) +
                               " is there already: choose another --output_dir or --split");
}

/// Numbers of the pictures in the order in which they are written.
std::vector<size_t> picture_order(size_t count, const DataOptions& options) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  data::Random random(options.seed);
  for (size_t left = options.shuffle ? count : 0; left > 1; --left)
    std::swap(order[left - 1], order[size_t(random.below(int64_t(left)))]);
  return order;
}

const char* format_name(const std::string& bytes) {
  return data::image_format(bytes) == data::ImageFormat::Png ? "PNG" : "JPEG";
}

/// The record of one picture under ImageNet's keys; the file's bytes are not decoded.
/// With `decode` the whole file must be a picture, not just its header.
std::string picture_record(const std::string& path, int64_t label, const std::string& class_name,
                           bool decode) {
  std::string bytes = value_or_throw(io::read_file(path));
  data::Features features = {{"image/class/label", data::Int64List{label}},
                             {"image/class/synset", data::BytesList{class_name}},
                             {"image/class/text", data::BytesList{class_name}},
                             {"image/filename", data::BytesList{io::file_name_of(path)}},
                             {"image/format", data::BytesList{format_name(bytes)}}};
  if (data::image_format(bytes) == data::ImageFormat::Png ? data::has_png() : data::has_jpeg()) {
    const data::ImageSize size = data::image_size(bytes);
    if (decode) data::decode_image(bytes);
    features["image/height"] = data::Int64List{size.height};
    features["image/width"] = data::Int64List{size.width};
  }
  features["image/encoded"] = data::BytesList{std::move(bytes)};
  return data::encode_example(features);
}

/// Writes one shard under a temporary name; none of `pictures` that is no JPEG or PNG file.
io::AtomicFile write_shard(const std::string& path, const data::ImageFolder& folder,
                           std::span<const size_t> pictures, const DataOptions& options,
                           data::BadPictures& bad) {
  auto file = value_or_throw(io::AtomicFile::create(path));
  for (size_t i : pictures) {
    const int64_t label = folder.labels[i];
    std::string record;
    try {
      record = picture_record(folder.paths[i], label + options.first_label,
                              folder.class_names[size_t(label)], options.strict);
    } catch (const InvalidArgumentError& error) {
      const std::string reason = folder.paths[i] + ": " + error.what();
      if (options.strict) throw InvalidArgumentError(reason);
      bad.add(reason);
      continue;
    }
    throw_if_error(file.append(io::frame_record(record)));
  }
  throw_if_error(file.prepare());
  return file;
}

/// All shards appear together at the end, or none.
void write_shards(const DataOptions& options) {
  check_no_shards(options.output_dir, options.split);
  const data::ImageFolder folder = data::list_image_folder(options.input_dir);
  const std::vector<size_t> order = picture_order(folder.paths.size(), options);
  const int64_t count = int64_t(order.size()), shards = options.shards;
  if (shards > count)
    throw InvalidArgumentError(str_cat("--shards=", shards, ": there are only ", count,
                                       " pictures in ", options.input_dir));
  data::BadPictures bad;
  std::vector<io::AtomicFile> files;
  for (int64_t shard = 0; shard < shards; ++shard) {
    const size_t begin = size_t(count * shard / shards), end = size_t(count * (shard + 1) / shards);
    const std::string name = shard_name(options.split, shard, shards);
    files.push_back(write_shard(io::join_path(options.output_dir, name), folder,
                                std::span(order).subspan(begin, end - begin), options, bad));
  }
  std::string labels;
  for (const std::string& name : folder.class_names) labels += name + "\n";
  throw_if_error(
      io::write_file_atomically(io::join_path(options.output_dir, "labels.txt"), labels));
  for (io::AtomicFile& file : files) throw_if_error(file.commit());
  if (bad.count() > 0) std::fprintf(stderr, "%s\n", bad.summary().c_str());
  std::printf("%lld pictures of %zu classes in %lld files\n",
              static_cast<long long>(count - bad.count()), folder.class_names.size(),
              static_cast<long long>(shards));
}

/// What the records of a file have in common.
struct RecordSummary {
  struct OfFeature {
    std::string kind;
    int64_t records = 0;
    size_t least = SIZE_MAX, most = 0;  // values
  };
  int64_t records = 0, examples = 0, bytes = 0;
  std::map<std::string, OfFeature> features;

  void add(const std::string& record, const std::string& where) {
    ++records;
    bytes += int64_t(record.size());
    try {
      for (const auto& [name, feature] : data::decode_example(record, where)) add(name, feature);
      ++examples;
    } catch (const DataLossError&) {  // any bytes may be a record
    }
  }
  void add(const std::string& name, const data::Feature& feature) {
    static const char* const kKinds[] = {"none", "bytes", "float", "int64"};
    OfFeature& of = features[name];
    const std::string kind = kKinds[feature.index()];
    if (of.records++ == 0) of.kind = kind;
    if (of.kind != kind) of.kind = "mixed";
    size_t size = 0;
    if (const auto* list = std::get_if<data::BytesList>(&feature)) size = list->size();
    if (const auto* list = std::get_if<data::FloatList>(&feature)) size = list->size();
    if (const auto* list = std::get_if<data::Int64List>(&feature)) size = list->size();
    of.least = std::min(of.least, size);
    of.most = std::max(of.most, size);
  }
};

io::Compression compression_of(const std::string& path) {
  auto stream = value_or_throw(io::open_input_stream(path));
  std::string start;
  value_or_throw(io::append_from(*stream, 12, start));
  return io::detect_compression(start);
}

Json to_json(const std::string& path, io::Compression compression, const RecordSummary& summary) {
  static const char* const kNames[] = {"none", "zlib", "gzip"};
  Json json = {{"file", path},
               {"compression", kNames[size_t(compression)]},
               {"records", summary.records},
               {"bytes", summary.bytes},
               {"examples", summary.examples},
               {"features", Json::array()}};
  for (const auto& [name, of] : summary.features)
    json["features"].push_back({{"name", name},
                                {"kind", of.kind},
                                {"records", of.records},
                                {"min_values", of.least},
                                {"max_values", of.most}});
  return json;
}

void print_summary(const Json& json) {
  std::printf("%s: %lld records, %lld bytes, compression %s\n",
              json["file"].get<std::string>().c_str(), json["records"].get<long long>(),
              json["bytes"].get<long long>(), json["compression"].get<std::string>().c_str());
  if (json["examples"] != json["records"])
    std::printf("  %lld of them are no tf.train.Example\n",
                json["records"].get<long long>() - json["examples"].get<long long>());
  for (const Json& of : json["features"])
    std::printf("  %-32s %-6s in %lld records, %lld to %lld values\n",
                of["name"].get<std::string>().c_str(), of["kind"].get<std::string>().c_str(),
                of["records"].get<long long>(), of["min_values"].get<long long>(),
                of["max_values"].get<long long>());
}

/// What came before damage is shown all the same.
int list_records(const std::string& path, bool json) {
  RecordSummary summary;
  std::string problem;
  auto compression = io::Compression::None;
  try {
    compression = compression_of(path);
    auto reader = value_or_throw(io::RecordReader::open(path, compression));
    for (std::string record; value_or_throw(reader.next(record));)
      summary.add(record, str_cat(path, ", record ", summary.records));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty() || summary.records > 0) {
    const Json all = to_json(path, compression, summary);
    if (json)
      std::printf("%s\n", distribute::json_text(all, 2).c_str());
    else
      print_summary(all);
  }
  if (!problem.empty()) std::fprintf(stderr, "distribute data ls: %s\n", problem.c_str());
  return problem.empty() ? 0 : 1;
}

std::vector<Command> data_commands() {
  using O = DataOptions;
  return {make_command<O>(
              "data tfrecord", "",
              "TFRecord files with ImageNet's keys from a folder with one folder for each class",
              {{"input_dir=D", &O::input_dir, "a folder with one folder for each class"},
               {"output_dir=D", &O::output_dir, "where the shards go"},
               {"shards=N", &O::shards, at_least(1), "number of files"},
               {"split=NAME", &O::split, "the files are called NAME-00000-of-00008"},
               {"shuffle", &O::shuffle, "pictures of all classes mixed"},
               {"seed=N", &O::seed, "of the order"},
               {"first_label=N", &O::first_label, "label of the first class"},
               {"strict", &O::strict, "a file that is no picture is an error"}},
              [](const O& options, const CommandLine&) {
                if (options.input_dir.empty() || options.output_dir.empty())
                  throw UsageProblem("--input_dir and --output_dir are needed");
                write_shards(options);
                return 0;
              }),
          make_command<JsonOptions>("data ls", "FILE",
                                    "how many records a TFRecord file holds, and which features",
                                    {{"json", &JsonOptions::json, "print JSON instead of a table"}},
                                    [](const JsonOptions& options, const CommandLine& line) {
                                      return list_records(line.words[0], options.json);
                                    })};
}

}  // namespace distribute_tools
