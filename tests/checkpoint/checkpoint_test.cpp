#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;
using train::Checkpoint;

namespace {

Tensor input() { return Tensor(Shape{1, 2}, std::vector<float>{1, -2}); }

/// Two dense layers and Adam, with a step of training.
struct Trainer {
  nn::Sequential model{nn::Dense({.units = 3}), nn::Dense({.units = 2})};
  optim::Adam optimizer{{.learning_rate = 0.1}};
  Checkpoint checkpoint{model, optimizer};

  void step() {
    GradientTape tape;
    const Tensor loss = reduce_sum(model(input()));
    optimizer.minimize(loss, model.trainable_variables(), tape);
  }
  std::vector<float> weights() const { return values(model.variables()); }
  std::vector<float> slots() const {
    std::vector<Variable> all;
    for (const auto& slot : optimizer.slot_variables()) all.push_back(slot.variable);
    return values(all);
  }
  static std::vector<float> values(const std::vector<Variable>& variables) {
    std::vector<float> all;
    for (const Variable& variable : variables)
      for (const float x : variable.value().to_vector()) all.push_back(x);
    return all;
  }
};

int open_files() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count +=
        std::filesystem::read_symlink(entry, gone).string().find(".data-") != std::string::npos;
  }
  return count;
}

void damage(const std::string& file, int64_t offset) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(offset);
  const char byte = char(stream.get());
  stream.seekp(offset);
  stream.put(char(byte ^ 1));
}

}  // namespace

TEST_CASE("model and optimizer go on as if never stopped", "[checkpoint]") {
  const TemporaryDirectory directory;
  Trainer first, second;
  first.step();
  first.step();
  second.step();
  const std::string path = first.checkpoint.save(directory / "ckpt");
  CHECK(path == directory / "ckpt-1");
  const auto status = second.checkpoint.restore(path);
  status.assert_consumed().assert_existing_objects_matched().assert_nontrivial_match();
  CHECK(second.weights() == first.weights());
  CHECK(second.slots() == first.slots());
  CHECK(second.optimizer.iterations() == 2);
  CHECK(second.checkpoint.save_counter() == 1);
  first.step();
  second.step();
  CHECK(second.weights() == first.weights());
}

TEST_CASE("parts are given by reference or by address", "[checkpoint]") {
  const TemporaryDirectory directory;
  nn::Sequential model(nn::Dense({.units = 2})), other(nn::Dense({.units = 2}));
  optim::Adam optimizer;
  model(ones({1, 3}));
  const Variable step(Tensor(int64_t{4}));
  const train::Checkpoint by_reference(
      {{"model", model}, {"optimizer", optimizer}, {"step", step}});
  const std::string path = by_reference.write(directory / "ckpt");
  train::Checkpoint by_address({{"model", &other}});
  by_address.add_part("optimizer", optimizer);
  by_address.restore(path).expect_partial();
  other(ones({1, 3}));
  CHECK(other.variables()[0].value().to_vector() == model.variables()[0].value().to_vector());
  // A temporary would be gone before the first save.
  STATIC_REQUIRE_FALSE(std::is_constructible_v<train::CheckpointPart, nn::Sequential>);
  STATIC_REQUIRE(std::is_constructible_v<train::CheckpointPart, nn::Sequential&>);
}

TEST_CASE("the file has TensorFlow's keys, in order", "[checkpoint]") {
  const TemporaryDirectory directory;
  Trainer trainer;
  trainer.step();
  const train::BundleReader reader(trainer.checkpoint.write(directory / "ckpt"));
  const std::string value = "/.ATTRIBUTES/VARIABLE_VALUE";
  std::vector<std::string> wanted = {"_CHECKPOINTABLE_OBJECT_GRAPH"};
  for (const std::string layer : {"dense", "dense_1"})
    for (const std::string weight : {"bias", "kernel"}) {
      const std::string path = "model/" + layer + "/" + weight;
      wanted.push_back(path + value);
      wanted.push_back(path + "/.OPTIMIZER_SLOT/optimizer/m" + value);
      wanted.push_back(path + "/.OPTIMIZER_SLOT/optimizer/v" + value);
    }
  for (const std::string name : {"optimizer/iterations", "optimizer/learning_rate", "save_counter"})
    wanted.push_back(name + value);
  std::sort(wanted.begin(), wanted.end());
  CHECK(reader.keys() == wanted);
  int64_t end = 0;  // data in the order of the keys, as TensorFlow writes it
  for (const auto& key : reader.keys()) {
    CHECK(reader.entry(key).offset == end);
    end += reader.entry(key).size;
  }
}

TEST_CASE("layers and slots that do not exist yet get their values when they are created",
          "[checkpoint]") {
  const TemporaryDirectory directory;
  Trainer first, second;
  first.step();
  const std::string path = first.checkpoint.write(directory / "ckpt");
  const auto status = second.checkpoint.restore(path);
  status.assert_existing_objects_matched();
  CHECK_THROWS_AS(status.assert_consumed(), FailedPreconditionError);
  CHECK(open_files() == 0);
  second.model(input());
  CHECK(second.weights() == first.weights());
  CHECK_THROWS_WITH(status.assert_consumed(), Contains(".OPTIMIZER_SLOT"));
  first.step();
  second.step();
  status.assert_consumed();
  CHECK(second.weights() == first.weights());
  CHECK(second.slots() == first.slots());
  CHECK(open_files() == 0);
}

TEST_CASE("parts added later are restored as well", "[checkpoint]") {
  const TemporaryDirectory directory;
  Trainer trainer;
  trainer.step();
  const std::string path = Checkpoint(trainer.model).write(directory / "ckpt");
  nn::Sequential empty;
  const auto status = Checkpoint(empty).restore(path);
  status.assert_existing_objects_matched();
  empty.add(nn::Dense({.units = 3}));
  nn::Dense built({.units = 2});
  built(zeros({1, 3}));
  empty.add(std::move(built));
  empty(input());
  status.assert_consumed();
  CHECK(Trainer::values(empty.variables()) == trainer.weights());
}

TEST_CASE("objects that wait may move, and die before the rest", "[checkpoint]") {
  const TemporaryDirectory directory;
  Trainer trainer;
  trainer.step();
  const std::string path = Checkpoint(trainer.model).write(directory / "ckpt");
  nn::Sequential moved;
  {
    nn::Sequential model(nn::Dense({.units = 3}), nn::Dense({.units = 2}));
    Checkpoint(model).restore(path).expect_partial();
    moved = std::move(model);
  }
  moved(input());
  CHECK(Trainer::values(moved.variables()) == trainer.weights());
}

TEST_CASE("a second restore replaces the first, also for what is created later", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node one, two, target;
  one.add("a", Tensor{1.0f});
  one.add("late", Tensor{2.0f});
  two.add("a", Tensor{10.0f});
  const std::string first = Checkpoint(one).write(directory / "one");
  const std::string second = Checkpoint(two).write(directory / "two");
  const Variable a = target.add("a", Tensor{0.0f});
  Checkpoint checkpoint(target);
  checkpoint.restore(first).expect_partial();
  CHECK(a.value().item<float>() == 1.0f);
  checkpoint.restore(second).assert_consumed();
  CHECK(a.value().item<float>() == 10.0f);
  CHECK(target.add("late", Tensor{5.0f}).value().item<float>() == 5.0f);
}

TEST_CASE("a status says which side lacks something", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node saved, target;
  saved.add("common", Tensor{1.0f});
  saved.add("only_file", Tensor{2.0f});
  target.add("common", Tensor{0.0f});
  const std::string path = Checkpoint(saved).write(directory / "ckpt");
  const auto partial = Checkpoint(target).restore(path);
  partial.assert_existing_objects_matched().assert_nontrivial_match().expect_partial();
  CHECK_THROWS_WITH(partial.assert_consumed(),
                    Contains(path) && Contains("'model/only_file/.ATTRIBUTES/VARIABLE_VALUE'"));
  target.add("only_program", Tensor{0.0f});
  CHECK_THROWS_WITH(partial.assert_existing_objects_matched(), Contains("model/only_program"));
  CHECK_THROWS_WITH(partial.assert_consumed(), Contains("model/only_program"));

  Node other;
  const Variable unmatched = other.add("something", Tensor{7.0f});
  const auto nothing = Checkpoint({{"else", &other}}).restore(path);
  CHECK_THROWS_AS(nothing.expect_partial().assert_nontrivial_match(), FailedPreconditionError);
  CHECK(unmatched.value().item<float>() == 7.0f);
}

TEST_CASE("a variable reachable by two paths is saved once and restored once", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node saved, target;
  saved.share("two", saved.add("one", Tensor{3.0f}));
  const Variable variable = target.add("one", Tensor{0.0f});
  target.share("two", variable);
  const std::string path = Checkpoint(saved).write(directory / "ckpt");
  CHECK(train::BundleReader(path).keys().size() == 3);  // with graph and save counter
  Checkpoint(target).restore(path).assert_consumed();
  CHECK(variable.value().item<float>() == 3.0f);

  Node other_way;  // the same under its second name alone
  const Variable alone = other_way.add("two", Tensor{0.0f});
  Checkpoint(other_way).restore(path).assert_consumed();
  CHECK(alone.value().item<float>() == 3.0f);
}

TEST_CASE("objects may refer to each other in a circle", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node a, b;
  a.attach("b", b);
  b.attach("a", a);
  const Variable x = a.add("x", Tensor{1.0f});
  const Variable y = b.add("y", Tensor{2.0f});
  Checkpoint checkpoint({{"root", &a}});
  const std::string path = checkpoint.write(directory / "ckpt");
  x.assign(Tensor{0.0f});
  y.assign(Tensor{0.0f});
  checkpoint.restore(path).assert_consumed();
  CHECK(x.value().item<float>() == 1.0f);
  CHECK(y.value().item<float>() == 2.0f);
}

TEST_CASE("variables and other state are parts of their own", "[checkpoint]") {
  const TemporaryDirectory directory;
  struct Counter {
    int64_t at = 0;
    Tensor state() const { return Tensor(at); }
    void restore(const Tensor& saved) { at = saved.item<int64_t>(); }
  } counter;
  const Variable step(Tensor(int64_t{0}), {.name = "step", .trainable = false});
  Checkpoint checkpoint({{"step", step}, {"position", train::state_of(counter)}});
  step.assign(Tensor(int64_t{7}));
  counter.at = 9;
  const std::string path = checkpoint.write(directory / "ckpt");
  step.assign(Tensor(int64_t{0}));
  counter.at = 0;
  checkpoint.restore(path).assert_consumed();
  CHECK(step.value().item<int64_t>() == 7);
  CHECK(counter.at == 9);
}

TEST_CASE("names with dots and slashes keep their place", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node node;
  const Variable dotted = node.add("a.b", Tensor{1.0f});
  const Variable slashed = node.add("x/y", Tensor{2.0f});
  Checkpoint checkpoint(node);
  const std::string path = checkpoint.write(directory / "ckpt");
  CHECK(train::BundleReader(path).contains("model/a..b/.ATTRIBUTES/VARIABLE_VALUE"));
  CHECK(train::BundleReader(path).contains("model/x.Sy/.ATTRIBUTES/VARIABLE_VALUE"));
  dotted.assign(Tensor{0.0f});
  slashed.assign(Tensor{0.0f});
  checkpoint.restore(path).assert_consumed();
  CHECK(dotted.value().item<float>() == 1.0f);
  CHECK(slashed.value().item<float>() == 2.0f);
}

TEST_CASE("parts that cannot be told apart are refused", "[checkpoint]") {
  Node node;
  const Variable variable(Tensor{0.0f});
  CHECK_THROWS_AS(Checkpoint({{"a", &node}, {"a", variable}}), InvalidArgumentError);
  CHECK_THROWS_AS(Checkpoint({{"save_counter", variable}}), InvalidArgumentError);
  CHECK_THROWS_AS(Checkpoint({{"none", Variable()}}), InvalidArgumentError);
  const TemporaryDirectory directory;
  node.share("x", variable);
  node.add("x", Tensor{1.0f});
  CHECK_THROWS_WITH(Checkpoint(node).write(directory / "ckpt"), Contains("'x'"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a value that does not fit is refused by name, and nothing changes", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node saved, target;
  saved.add("a", Tensor{1.0f});
  saved.add("b", Tensor{1.0f, 2.0f});
  const Variable a = target.add("a", Tensor{5.0f});
  target.add("b", Tensor{1.0f, 2.0f, 3.0f});
  const std::string path = Checkpoint(saved).write(directory / "ckpt");
  CHECK_THROWS_WITH(Checkpoint(target).restore(path),
                    Contains(path) && Contains("model/b") && Contains("[2]") && Contains("[3]"));
  CHECK(a.value().item<float>() == 5.0f);

  Node whole_number;
  whole_number.add("a", Tensor(int64_t{1}));
  CHECK_THROWS_WITH(Checkpoint(whole_number).restore(path),
                    Contains("model/a") && Contains("float32") && Contains("int64"));

  Node late;  // found out only when the variable comes
  Checkpoint(late).restore(path).expect_partial();
  CHECK_THROWS_WITH(late.add("b", Tensor{0.0f}), Contains(path) && Contains("model/b"));
}

TEST_CASE("damaged and missing files give errors that name file and tensor", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node node;
  const Variable a = node.add("a", Tensor{1.0f});
  Checkpoint checkpoint(node);
  const std::string path = checkpoint.write(directory / "ckpt");
  const std::string data = path + ".data-00000-of-00001";
  const int64_t offset =
      train::BundleReader(path).entry("model/a/.ATTRIBUTES/VARIABLE_VALUE").offset;
  a.assign(Tensor{2.0f});
  damage(data, offset);
  CHECK_THAT(error_of<DataLossError>([&] { checkpoint.restore(path); }),
             Contains(data) && Contains("model/a") && Contains("checksum"));
  std::filesystem::resize_file(data, size_t(offset));
  CHECK_THAT(error_of<DataLossError>([&] { checkpoint.restore(path); }), Contains(data));
  std::filesystem::remove(data);
  CHECK_THAT(error_of<NotFoundError>([&] { checkpoint.restore(path); }), Contains(data));
  CHECK_THAT(error_of<NotFoundError>([&] { checkpoint.restore(directory / "none"); }),
             Contains(directory / "none"));
  CHECK(a.value().item<float>() == 2.0f);
}

TEST_CASE("an object graph that lies is refused", "[checkpoint]") {
  const TemporaryDirectory directory;
  const auto write = [&](const train::TrackableObjectGraph& graph) {
    train::BundleWriter writer(directory / "ckpt");
    writer.add_string(train::kObjectGraphKey, train::encode_object_graph(graph));
    writer.finish();
  };
  Node node;
  node.add("a", Tensor{1.0f});
  const Checkpoint checkpoint({{"model", &node}});
  const auto restore = [&] { checkpoint.restore(directory / "ckpt"); };
  write({});
  CHECK_THAT(error_of<DataLossError>(restore), Contains("root"));
  train::TrackableObject root{.children = {{0, "model"}, {1, "a"}}};  // the root within itself
  train::TrackableObject value{.attributes = {{"VARIABLE_VALUE", "a", "nowhere"}}};
  write({{root, value}});
  CHECK_THAT(error_of<NotFoundError>(restore), Contains("nowhere"));
}

TEST_CASE("a file that goes away between restore and creation is an error", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node saved, target;
  saved.add("a", Tensor{1.0f});
  const std::string path = Checkpoint(saved).write(directory / "ckpt");
  Checkpoint(target).restore(path).expect_partial();
  std::filesystem::remove(path + ".data-00000-of-00001");
  CHECK_THAT(error_of<NotFoundError>([&] { target.add("a", Tensor{0.0f}); }), Contains(path));
}

TEST_CASE("a full disk costs neither the older checkpoint nor the counter", "[checkpoint]") {
  const TemporaryDirectory directory;
  Node node;
  const Variable a = node.add("a", zeros({1000}));
  Checkpoint checkpoint(node);
  const std::string path = checkpoint.save(directory / "ckpt");
  {
    const FileSizeLimit limit(2000);
    CHECK_THAT(error_of<Error>([&] { checkpoint.save(directory / "ckpt"); }),
               Contains(directory.path()));
    CHECK_THROWS_AS(checkpoint.write(path), Error);
  }
  CHECK(checkpoint.save_counter() == 1);
  CHECK(train::latest_checkpoint(directory.path()) == path);
  checkpoint.restore(path).assert_consumed();
  size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(directory.path()))
    ++files;
  CHECK(files == 3);
  CHECK(checkpoint.save(directory / "ckpt") == directory / "ckpt-2");
}

TEST_CASE("a directory that cannot be written is named", "[checkpoint]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  Node node;
  node.add("a", Tensor{1.0f});
  CHECK_THAT(error_of<Error>([&] { Checkpoint(node).save(directory / "file/ckpt"); }),
             Contains(directory / "file"));
}

TEST_CASE("read is the way back of write, and numbers go on as in TensorFlow", "[checkpoint]") {
  const TemporaryDirectory directory;
  const Variable v(Tensor(3.0f));
  Checkpoint checkpoint({{"v", v}});
  checkpoint.write(directory / "w");
  v.assign(Tensor(0.0f));
  checkpoint.read(directory / "w").assert_consumed();
  CHECK(v.value().item<float>() == 3.0f);
  std::string third;
  for (int i = 0; i < 3; ++i) third = checkpoint.save(directory / "s");
  Checkpoint later({{"v", v}});
  later.read(third).assert_consumed();
  CHECK(later.save(directory / "t") == directory / "t-4");
}

TEST_CASE("lists of layers are saved under TensorFlow's keys for lists", "[checkpoint]") {
  struct Net : nn::Module {
    Net() {
      for (int i = 0; i < 2; ++i) blocks.append(nn::Dense({.units = 2, .use_bias = false}));
    }
    Tensor call(const Tensor& x, nn::CallOptions options) override {
      return blocks[1](blocks[0](x, options), options);
    }
    nn::ModuleList<nn::Dense>& blocks = add("blocks", nn::ModuleList<nn::Dense>());
  };
  const TemporaryDirectory directory;
  Net saved, restored, later;
  saved(input());
  restored(input());
  const std::string path = Checkpoint(saved).write(directory / "list");
  train::BundleReader reader(path);
  CHECK(reader.contains("model/blocks/0/kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  CHECK(reader.contains("model/blocks/1/kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  Checkpoint(restored).restore(path).assert_consumed();
  const auto status = Checkpoint(later).restore(path);
  later(input());
  status.assert_consumed();
  const auto second = saved.blocks[1].kernel().value().to_vector();
  CHECK(restored.blocks[1].kernel().value().to_vector() == second);
  CHECK(later.blocks[1].kernel().value().to_vector() == second);
}
