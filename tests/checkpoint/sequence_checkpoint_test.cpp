/// Models of sequences come back from checkpoints.
#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <string>
#include <vector>

using namespace distribute;

namespace {

nn::Sequential network() {
  return nn::Sequential(
      nn::Embedding({.input_dim = 7, .output_dim = 4, .mask_zero = true}),
      nn::Bidirectional(nn::GRU({.units = 3, .return_sequences = true, .name = "gru"})),
      nn::MultiHeadAttention({.num_heads = 2, .key_dim = 2}),
      nn::LSTM({.units = 3, .return_sequences = true}), nn::GlobalAveragePooling1D(),
      nn::Dense({.units = 2}));
}
const Tensor kIds(Shape{2, 3}, std::vector<int32_t>{1, 6, 0, 2, 0, 0});

}  // namespace

TEST_CASE("a model of sequences comes back from its checkpoint", "[checkpoint]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "model";
  nn::clear_session();
  nn::Sequential first = network();
  const auto wanted = first(kIds).to_vector();
  train::Checkpoint(first).write(prefix);
  std::vector<std::string> names;
  for (const Variable& variable : first.variables()) names.push_back(variable.name());
  CHECK(names[1] == "sequential/bidirectional/forward_gru/gru_cell/kernel");
  CHECK(names[7] == "sequential/multi_head_attention/query/kernel");
  CHECK(names[15] == "sequential/lstm/lstm_cell/kernel");

  nn::Sequential second = network();
  CHECK(second(kIds).to_vector() != wanted);
  train::Checkpoint(second).read(prefix).assert_consumed();
  CHECK(second(kIds).to_vector() == wanted);
}

TEST_CASE("weights of sequences are found by their names", "[checkpoint]") {
  const TemporaryDirectory directory;
  const std::string prefix = directory / "weights";
  nn::clear_session();
  nn::Sequential first = network();
  const auto wanted = first(kIds).to_vector();
  train::save_weights(prefix, first.variables());
  nn::clear_session();
  nn::Sequential second = network();
  second(kIds);
  train::load_weights(prefix, second.variables());
  CHECK(second(kIds).to_vector() == wanted);
}
