// A ResNet-50 that the real Keras wrote, where Python has TensorFlow.
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/resnet.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/tensorflow_script.hpp>

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

}  // namespace

TEST_CASE("a ResNet-50 that Keras wrote gives Keras's logits", "[checkpoint][tensorflow][slow]") {
  const TemporaryDirectory own;
  const char* written = std::getenv("DISTRIBUTE_KERAS_RESNET");  // by an earlier run of the script
  const std::string directory = written ? written : own.path();
  if (!written &&
      !run_tensorflow_script("checkpoint/keras_resnet_writes.py", directory, own / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  nn::applications::ResNet net({.classes = 10, .version_1 = true});
  const Tensor x = read_floats(directory + "/x", {2, 64, 64, 3});
  net(x);
  const auto result = train::load_weights(directory + "/weights", net.variables());
  CHECK(result.loaded.size() == net.variables().size());
  const auto wanted = read_floats(directory + "/y", {2, 10}).to_vector();
  const auto got = net(x).to_vector();
  float largest = 0, difference = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    difference = std::max(difference, std::abs(wanted[i] - got[i]));
  }
  INFO("largest difference " << difference << " of values up to " << largest);
  CHECK(difference <= 1e-5f * largest);
}
