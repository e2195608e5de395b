// A ResNet-50 that the real Keras wrote, where Python has TensorFlow.
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace distribute;

namespace {

Tensor read_floats(const std::string& path, const Shape& shape) {
  std::vector<float> values(size_t(shape.num_elements()));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * 4));
  REQUIRE(file);
  return Tensor(shape, values);
}

void check_against(nn::applications::ResNetOptions options, const std::string& directory,
                   const char* file, const Shape& shape) {
  options.version_1 = true;
  nn::applications::ResNet net(options);
  const Tensor x = read_floats(directory + "/x", {2, 64, 64, 3});
  net(x);
  const auto result = train::load_weights(directory + "/weights", net.variables());
  CHECK(result.loaded.size() == net.variables().size());
  const Tensor y = net(x);
  CHECK(y.shape() == shape);
  const auto wanted = read_floats(directory + "/" + file, shape).to_vector(), got = y.to_vector();
  float largest = 0, difference = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    difference = std::max(difference, std::abs(wanted[i] - got[i]));
  }
  INFO(file << ": largest difference " << difference << " of values up to " << largest);
  CHECK(difference <= 1e-5f * largest);
}

}  // namespace

TEST_CASE("a ResNet-50 that Keras wrote gives Keras's numbers", "[checkpoint][tensorflow][slow]") {
  const TemporaryDirectory own;
  const char* written = std::getenv("DISTRIBUTE_KERAS_RESNET");  // by an earlier run of the script
  const std::string directory = written ? written : own.path();
  if (!written &&
      !run_tensorflow_script("checkpoint/keras_resnet_writes.py", directory, own / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  using nn::applications::Pooling;
  check_against({.classes = 10, .classifier_activation = nullptr}, directory, "y", {2, 10});
  check_against({.classes = 10}, directory, "probabilities", {2, 10});
  check_against({.include_top = false}, directory, "features", {2, 2, 2, 2048});
  check_against({.include_top = false, .pooling = Pooling::Avg}, directory, "avg", {2, 2048});
  check_against({.include_top = false, .pooling = Pooling::Max}, directory, "max", {2, 2048});
}

TEST_CASE("checkpoints of a ResNet go from Keras to here and back",
          "[checkpoint][tensorflow][slow]") {
  const TemporaryDirectory own;
  const std::string script = "checkpoint/keras_resnet_writes.py";
  if (!run_tensorflow_script(script, own.path(), own / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  nn::applications::ResNet net({.classes = 10, .version_1 = true});
  const Tensor x = read_floats(own / "x", {2, 64, 64, 3});
  net(x);
  optim::SGD sgd({.learning_rate = 0.5, .momentum = 0.5});
  sgd.build(net.trainable_variables());
  train::Checkpoint checkpoint(net, sgd);
  checkpoint.restore(own / "trained").assert_consumed();
  CHECK(sgd.iterations() == 1);
  const auto said = [&] { return net(x).to_vector(); };
  CHECK_THAT(
      said(),
      Catch::Matchers::Approx(read_floats(own / "trained_y", {2, 10}).to_vector()).margin(1e-6));
  checkpoint.write(own / "ours");
  run_tensorflow_script(script, "check " + own.path(), own / "log");
}
