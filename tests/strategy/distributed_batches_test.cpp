// Which rows each replica gets, against TensorFlow: every case of distributed_batches.json, which
// distributed_batches.py beside it makes.

#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/thread_workers.hpp>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace distribute;
using data::AutoShardPolicy;
using data::Batch;
using data::Dataset;
using Json = nlohmann::json;

namespace {

constexpr size_t kLimit = 12;  // steps of a dataset without an end, as in the script

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(by, begin)) != std::string::npos; begin = end + by.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// A name and its numbers, such as "batch 4".
struct Part {
  explicit Part(const std::string& text) {
    std::istringstream in(text);
    in >> name;
    for (int64_t n; in >> n;) numbers.push_back(n);
  }
  int64_t operator[](size_t i) const { return numbers.at(i); }
  std::string name;
  std::vector<int64_t> numbers;
};

/// Batches of these sizes.
Dataset ragged(const std::vector<int64_t>& sizes) {
  return Dataset::from_generator(
      [sizes] {
        return [sizes, i = size_t{0}, first = int64_t{0}]() mutable -> std::optional<Batch> {
          if (i == sizes.size()) return std::nullopt;
          const int64_t size = sizes[i++];
          std::vector<int64_t> values;
          for (int64_t k = 0; k < size; ++k) values.push_back(first++);
          return Batch{Tensor(Shape{size}, values)};
        };
      },
      {{{-1}, DType::Int64}});
}

/// Files with as many numbers as `sizes` says.
Dataset files(const std::vector<int64_t>& sizes) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  int64_t first = 0;
  for (int64_t size : sizes) {
    names.push_back(std::to_string(names.size()));
    ranges[names.back()] = {first, first + size};
    first += size;
  }
  return Dataset::from_files(names, [ranges](const std::string& name) {
    return Dataset::range(ranges.at(name).first, ranges.at(name).second);
  });
}

Dataset source(const Part& part) {
  if (part.name == "range") return Dataset::range(part[0]);
  if (part.name == "ragged") return ragged(part.numbers);
  if (part.name == "files") return files(part.numbers);
  if (part.name == "slices") {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < part[0] * part[1]; ++i) values.push_back(i);
    return Dataset::from_tensor_slices(Tensor(Shape{part[0], part[1]}, values));
  }
  require(part.name == "parts", "an unknown source");
  const int64_t count = part[0], size = part[1];
  return Dataset::range((count + size - 1) / size)
      .interleave(
          [=](const Batch& i) {
            const int64_t first = i.x.item<int64_t>() * size;
            return Dataset::range(first, std::min(first + size, count)).batch(size);
          },
          {.cycle_length = 1});
}

Dataset transformed(const Dataset& d, const Part& part, const InputContext& context) {
  const auto k = [&](size_t i) { return part[i]; };
  const std::string& name = part.name;
  if (name == "batch") return d.batch(k(0));
  if (name == "batch_drop") return d.batch(k(0), true);
  if (name == "unbatch") return d.unbatch();
  if (name == "rebatch") return d.rebatch({k(0)});
  if (name == "map_head")
    return d.map(
        [n = k(0)](const Batch& b) { return data::rows(b, 0, std::min(n, b.x.shape()[0])); });
  if (name == "map_twice") return d.map([](const Batch& b) { return data::concat_rows({b, b}); });
  if (name == "map_same") return d.map([](const Batch& b) { return b; });
  if (name == "filter_all") return d.filter([](const Batch&) { return true; });
  if (name == "filter_last") return d.filter([](const Batch& b) { return b.x.to_vector()[0] > 0; });
  if (name == "prefetch") return d.prefetch(k(0));
  if (name == "cache") return d.cache();
  if (name == "take") return d.take(k(0));
  if (name == "skip") return d.skip(k(0));
  if (name == "repeat") return part.numbers.empty() ? d.repeat() : d.repeat(k(0));
  if (name == "shuffle") return d.shuffle(k(0));
  if (name == "shard") return d.shard(k(0), k(1));
  if (name == "shard_hint") return d.shard(data::kShardHint, data::kShardHint);
  if (name == "shard_context")
    return d.shard(context.num_input_pipelines(), context.input_pipeline_id());
  if (name == "concat_range") return d.concatenate(Dataset::range(k(0)).batch(k(1)));
  const bool drop = name == "zip_range_drop";
  require(drop || name == "zip_range", "an unknown transformation");
  return Dataset::zip({d, Dataset::range(k(0)).batch(k(1), drop)});
}

Dataset dataset_of(const std::string& pipeline, const InputContext& context = InputContext()) {
  const std::vector<std::string> parts = split(pipeline, " | ");
  Dataset dataset = source(Part(parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) dataset = transformed(dataset, Part(parts[i]), context);
  return dataset;
}

AutoShardPolicy policy_of(const std::string& name) {
  static const std::map<std::string, AutoShardPolicy> policies{{"AUTO", AutoShardPolicy::Auto},
                                                               {"OFF", AutoShardPolicy::Off},
                                                               {"DATA", AutoShardPolicy::Data},
                                                               {"FILE", AutoShardPolicy::File},
                                                               {"HINT", AutoShardPolicy::Hint}};
  return policies.at(name);
}

DistributedDataset distribute_case(const Json& row, Strategy& strategy) {
  const std::string pipeline = row["pipeline"], how = row["how"];
  if (how == "dataset")
    return strategy.experimental_distribute_dataset(dataset_of(pipeline).with_options(
        {.experimental_distribute = {.auto_shard_policy = policy_of(row["policy"])}}));
  const auto make = [&](const InputContext& context) { return dataset_of(pipeline, context); };
  if (how == "function") return strategy.distribute_datasets_from_function(make);
  return strategy.distribute_datasets_from_function(
      make, {.experimental_replication_mode = InputReplicationMode::PerReplica});
}

/// Step by step what this process's replicas get.
Json rows_of(const PerReplica<Batch>& step) {
  Json rows = Json::array();
  for (const Batch& part : step.values()) {
    rows.push_back(Json::array());
    for (float x : part.x.to_vector()) rows.back().push_back(int64_t(x));
  }
  return rows;
}

/// As the script's answer_of.
Json answer_of(const Json& row, Strategy& strategy) {
  try {
    const DistributedDataset dataset = distribute_case(row, strategy);
    const auto shape = dataset.element_spec().at(0).shape;
    Json steps = Json::array(), optional = Json::array();
    for (const auto& batch : dataset) {
      steps.push_back(rows_of(batch));
      if (steps.size() == kLimit) break;
    }
    auto iterator = dataset.iterator();
    while (optional.size() < kLimit) {
      const auto batch = iterator.get_next_as_optional();
      if (!batch) break;
      optional.push_back(rows_of(*batch));
    }
    Json answer{{"steps", steps}, {"optional", optional}};
    answer["spec"] = shape.empty() ? Json("scalar") : shape[0] < 0 ? Json() : Json(shape[0]);
    return answer;
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

/// The answers of several workers, replicas of the first one first.
Json merged(const std::vector<Json>& answers) {
  Json all = answers[0];
  for (size_t w = 1; w < answers.size(); ++w)
    for (const char* key : {"steps", "optional"})
      for (size_t step = 0; all.contains(key) && step < all[key].size(); ++step)
        for (const Json& rows : answers[w].at(key).at(step)) all[key][step].push_back(rows);
  return all;
}

void check_answer(const Json& row, const Json& answer) {
  INFO(row.dump());
  INFO(answer.dump());
  if (row.contains("error")) {
    CHECK(answer.contains("error"));
    return;
  }
  // Deliberate: TensorFlow gives a replica without data a scalar 0, which counts as data.
  if (row["spec"] == "scalar" && answer.contains("error")) {
    CHECK(row.value("optional", row["steps"]).back().back() == Json{0});
    CHECK_THAT(answer["error"].get<std::string>(), Catch::Contains("have no form without rows"));
    return;
  }
  // Deliberate: with one replica TensorFlow undoes the dataset's own rebatch at the end.
  const bool undone = row["pipeline"] == "range 10 | batch 3 | rebatch 4" &&
                      row["workers"].get<int>() * row["replicas"].get<int>() == 1;
  if (undone) {
    CHECK(row["steps"] == Json::parse("[[[0,1,2]],[[3,4,5]],[[6,7,8]],[[9]]]"));
    CHECK(answer["steps"] == Json::parse("[[[0,1,2,3]],[[4,5,6,7]],[[8,9]]]"));
    return;
  }
  REQUIRE(answer.contains("steps"));
  CHECK(answer["steps"] == row["steps"]);
  CHECK(answer["optional"] == row.value("optional", row["steps"]));
  CHECK(answer["spec"] == row["spec"]);
}

/// The recorded cases with these numbers of workers, and of replicas on each.
std::vector<Json> cases_of(int workers, int replicas) {
  std::ifstream file(distribute::testing::source_dir() +
                     "/tests/data/input/distributed_batches.json");
  std::vector<Json> cases;
  for (const Json& row : Json::parse(file))
    if (row["workers"] == workers && row["replicas"] == replicas) cases.push_back(row);
  return cases;
}

}  // namespace

TEST_CASE("the replicas of one worker get the rows that TensorFlow gives them",
          "[strategy][distributed_batches]") {
  const int replicas = GENERATE(1, 2, 3, 4, 5);
  const std::vector<Json> cases = cases_of(1, replicas);
  REQUIRE(cases.size() > 50);
  MirroredStrategy strategy({.num_replicas = replicas});
  for (const Json& row : cases) check_answer(row, answer_of(row, strategy));
}

TEST_CASE("the replicas of several workers get the rows that TensorFlow gives them",
          "[strategy][distributed_batches][multi_worker]") {
  const auto [workers, replicas] =
      GENERATE(std::pair(2, 1), std::pair(2, 2), std::pair(3, 1), std::pair(4, 1));
  const std::vector<Json> cases = cases_of(workers, replicas);
  REQUIRE(cases.size() > 50);
  std::vector<std::vector<Json>> answers(size_t(workers), std::vector<Json>(cases.size()));
  run_clean(workers, replicas, [&](Strategy& strategy, int w) {
    for (size_t i = 0; i < cases.size(); ++i) answers[size_t(w)][i] = answer_of(cases[i], strategy);
  });
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<Json> of_case;
    for (const auto& of_worker : answers) of_case.push_back(of_worker[i]);
    check_answer(cases[i], merged(of_case));
  }
}
