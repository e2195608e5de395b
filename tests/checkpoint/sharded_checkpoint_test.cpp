#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/count_up.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/whole_files.hpp>

#include <map>
#include <string>
#include <vector>

using namespace distribute;

namespace {

/// A layer of 7 x 4 weights and an optimizer, on a strategy that cuts into `shards`.
struct Net {
  explicit Net(int64_t shards)
      : strategy({.variable_partitioner = {.num_shards = shards}, .num_replicas = 1}),
        scope(strategy) {}
  void build() {
    layer.ensure_built({1, 7});
    optimizer.build(layer.trainable_variables());
  }
  /// All weights and slots get numbers of their own.
  void fill_in() {
    layer.kernel().assign(count_up({7, 4}, 100));
    layer.bias().assign(count_up({4}, 200));
    for (const auto& slot : optimizer.slot_variables()) {
      const auto& info = slot.variable.impl().save_slice_info();
      const float row = info ? float(info->begin) : 0;
      slot.variable.assign(
          count_up(slot.variable.shape(), (slot.slot_name == "momentum" ? 300 : 500) + 4 * row));
    }
  }
  /// Slots of all shards together, by the name of the whole and the first row.
  std::map<std::string, std::vector<float>> slots() const {
    std::map<std::string, std::vector<float>> all;
    for (const auto& slot : optimizer.slot_variables()) {
      const auto& info = slot.variable.impl().save_slice_info();
      auto& values = all[info ? info->full_name : slot.variable.name()];
      const auto part = slot.variable.value().to_vector();
      values.insert(values.end(), part.begin(), part.end());
    }
    return all;
  }

  ParameterServerStrategy<> strategy;
  Scope scope;
  nn::Dense layer{{.units = 4, .name = "dense"}};
  optim::SGD optimizer{{.momentum = 0.9f}};
};

}  // namespace

TEST_CASE("any number of shards restores what another one saved, with slots (case 87)",
          "[checkpoint][sharded]") {
  const int64_t before = GENERATE(1, 2, 4), after = GENERATE(1, 2, 3, 4);
  const bool delayed = GENERATE(false, true);
  CAPTURE(before, after, delayed);
  const TemporaryDirectory directory;
  std::string path;
  std::map<std::string, std::vector<float>> slots;
  {
    Net net(before);
    net.build();
    net.fill_in();
    slots = net.slots();
    train::Checkpoint checkpoint(net.layer, net.optimizer);
    path = checkpoint.save(directory / "ckpt");
  }
  Net net(after);
  train::Checkpoint checkpoint(net.layer, net.optimizer);
  if (!delayed) net.build();
  const auto status = checkpoint.restore(path);
  if (delayed) net.build();
  status.assert_consumed();
  CHECK(net.layer.kernel().value().to_vector() == count_up({7, 4}, 100).to_vector());
  CHECK(net.layer.bias().value().to_vector() == count_up({4}, 200).to_vector());
  CHECK(net.slots() == slots);
}

TEST_CASE("shards are saved as slices of one tensor", "[checkpoint][sharded]") {
  const TemporaryDirectory directory;
  const bool flat = GENERATE(false, true);
  const std::string prefix = directory / "ckpt";
  {
    Net net(3);
    net.build();
    net.fill_in();
    if (flat)
      train::save_weights(prefix, net.layer.variables());
    else
      train::Checkpoint(net.layer).write(prefix);
  }
  train::BundleReader reader(prefix);
  const std::string key = flat ? "dense/kernel" : "model/kernel/.ATTRIBUTES/VARIABLE_VALUE";
  const train::BundleEntry& entry = reader.entry(key);
  CHECK(entry.dims == std::vector<int64_t>{7, 4});
  REQUIRE(entry.slices.size() == 3);
  CHECK(entry.slices[1] == train::TensorSlice{{3, 2}, {0, 4}});
  CHECK(reader.read_values<float>(key) == count_up({7, 4}, 100).to_vector());
  reader.verify();
  Net other(2);
  other.build();
  if (flat)
    train::load_weights(prefix, other.layer.variables());
  else
    train::Checkpoint(other.layer).restore(prefix).assert_consumed();
  CHECK(other.layer.kernel().value().to_vector() == count_up({7, 4}, 100).to_vector());
}

TEST_CASE("a plain variable and a sharded one restore each other's checkpoints",
          "[checkpoint][sharded]") {
  const TemporaryDirectory directory;
  const Variable plain(count_up({5, 2}));
  const ShardedVariable cut({Variable(zeros({2, 2})), Variable(zeros({3, 2}))});
  const std::string prefix = train::Checkpoint({{"v", plain}}).write(directory / "plain");
  train::Checkpoint({{"v", Variable(cut)}}).restore(prefix).assert_consumed();
  CHECK(cut.value().to_vector() == count_up({5, 2}).to_vector());
  cut.assign(count_up({5, 2}, 50));
  const std::string shards = train::Checkpoint({{"v", Variable(cut)}}).write(directory / "cut");
  train::Checkpoint({{"v", plain}}).restore(shards).assert_consumed();
  CHECK(plain.value().to_vector() == count_up({5, 2}, 50).to_vector());
  const ShardedVariable wide({Variable(zeros({2, 3})), Variable(zeros({3, 3}))});
  check_throws<InvalidArgumentError>(
      [&] {
        train::Checkpoint({{"v", Variable(wide)}}).restore(shards).expect_partial();
      },
      "[5, 2]");
}

TEST_CASE("what TensorFlow saved under parameter servers is restored into any shards (case 91)",
          "[checkpoint][sharded]") {
  const auto folder = shared_data("tf_files/checkpoint_ps_partitioned");
  if (!folder) SKIP("the shared data is not here");
  const std::vector<int64_t> rows = GENERATE(std::vector<int64_t>{9}, std::vector<int64_t>{5, 4},
                                             std::vector<int64_t>{3, 3, 2, 1});
  std::vector<Variable> parts;
  for (const int64_t n : rows) parts.emplace_back(zeros({n, 4}));
  const ShardedVariable embedding(parts);
  const Variable bias(zeros({3})), step(Tensor(int64_t{0}), {.trainable = false});
  train::Checkpoint({{"embedding", Variable(embedding)}, {"bias", bias}, {"step", step}})
      .restore(*folder + "/ckpt-1")
      .assert_consumed();
  const auto values = embedding.value().to_vector();
  CHECK(values[0] == 0.3597462475299835f);
  CHECK(values[7] == -1.0731565952301025f);
  double sum = 0;
  for (const float value : values) sum += double(value);
  CHECK(sum == Approx(1.5992005970329046));
  CHECK(step.value().item<int64_t>() == 3);
}

TEST_CASE("damage in one slice is found before any shard is restored", "[checkpoint][sharded]") {
  const TemporaryDirectory directory;
  const bool flat = GENERATE(false, true);
  const std::string prefix = directory / "ckpt", data = prefix + ".data-00000-of-00001";
  const auto cut = [](float first) {
    return Variable(ShardedVariable(
        {Variable(count_up({2, 2}, first)), Variable(count_up({3, 2}, first + 4))}, "v"));
  };
  const Variable saved = cut(0), other = cut(50);
  if (flat)
    train::save_weights(prefix, {saved});
  else
    train::Checkpoint({{"v", saved}}).write(prefix);
  const std::string key = flat ? "v" : "v/.ATTRIBUTES/VARIABLE_VALUE";
  const train::BundleEntry last =
      train::BundleReader(prefix).entry(train::slice_key(key, {{2, 3}, {0, 2}}));
  std::string bytes = value_or_throw(io::read_file(data));
  bytes[size_t(last.offset)] ^= 1;
  throw_if_error(io::write_file_atomically(data, bytes));
  const auto restore = [&] {
    if (flat)
      train::load_weights(prefix, {other});
    else
      train::Checkpoint({{"v", other}}).restore(prefix).expect_partial();
  };
  check_throws<DataLossError>(restore, "checksum");
  CHECK(other.value().to_vector() == count_up({5, 2}, 50).to_vector());
}

TEST_CASE("the real TensorFlow reads shards saved here", "[checkpoint][sharded][tensorflow]") {
  const TemporaryDirectory directory;
  const bool flat = GENERATE(false, true);
  const std::string prefix = directory / "ckpt";
  std::vector<Variable> parts;
  for (const int64_t begin : {0, 3, 6})
    parts.emplace_back(count_up({begin == 6 ? 1 : 3, 4}, 100 + 4 * float(begin)));
  const Variable table = ShardedVariable(parts, "table");
  if (flat)
    train::save_weights(prefix, {table});
  else
    train::Checkpoint({{"table", table}}).write(prefix);
  const std::string key = flat ? "table" : "table/.ATTRIBUTES/VARIABLE_VALUE";
  if (!run_tensorflow_script("checkpoint/sharded_checkpoints.py",
                             "read " + prefix + " " + key + " 7 4 100", directory / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
}

TEST_CASE("shards that the real TensorFlow saved are restored into others",
          "[checkpoint][sharded][tensorflow]") {
  const TemporaryDirectory directory;
  if (!run_tensorflow_script("checkpoint/sharded_checkpoints.py", "write " + directory.path(),
                             directory / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  for (const bool saver : {false, true})
    for (const std::vector<int64_t>& rows :
         {std::vector<int64_t>{11}, std::vector<int64_t>{2, 7, 2}}) {
      std::vector<Variable> parts;
      for (const int64_t n : rows) parts.emplace_back(zeros({n, 3}));
      const Variable table = ShardedVariable(parts, "table");
      const Variable step(Tensor(int64_t{0}), {.name = "step", .trainable = false});
      if (saver)
        train::load_weights(directory / "saver/ckpt", {table, step});
      else
        train::Checkpoint({{"table", table}, {"step", step}})
            .restore(directory / "object/ckpt")
            .assert_consumed();
      CHECK(table.value().to_vector() == count_up({11, 3}).to_vector());
      CHECK(step.value().item<int64_t>() == 7);
    }
}
