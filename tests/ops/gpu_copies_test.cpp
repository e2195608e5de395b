// Copies, gathers and sums of columns move 16 bytes at once where rows allow it: the same values
// for any width and place of rows.
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include "../support/gpu_contract.hpp"

using namespace distribute;
using namespace distribute::testing;
using Tensors = std::vector<Tensor>;

namespace {

constexpr DType kTypes[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int64,
                            DType::UInt8};
/// Widths of rows: whole packs of every type, of some, of none.
constexpr int64_t kWidths[] = {1, 2, 5, 12, 16, 48};

/// [rows, columns] that begin `skipped` elements behind the start of their memory.
Tensor placed(const Tensor& flat, int64_t skipped, const Shape& shape) {
  return reshape(flat.rows(skipped, skipped + shape.num_elements()), shape);
}

/// fn of a tensor of each type and width, [2, 3, 4, width], that is aligned or not.
void check_rows(const std::string& name, const std::function<Tensors(const Tensor&)>& fn) {
  for (const DType dtype : kTypes)
    for (const int64_t width : kWidths)
      for (const int64_t skipped : {0, 1, 8}) {
        const Shape shape{2, 3, 4, width};
        check_contract(
            str_cat(name, " ", name_of(dtype), " of ", width, " behind ", skipped),
            [&](const Tensors& in) { return fn(placed(cast(in[0], dtype), skipped, shape)); },
            {contract_numbers({skipped + shape.num_elements()}, 1, 90)},
            {.tolerance = 0, .gradients = false});
      }
}

}  // namespace

TEST_CASE("strided copies agree on both devices for rows of any width", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_rows("copy", [](const Tensor& x) {
    const int64_t width = x.shape()[3];
    Tensors results{transpose(x, {2, 0, 1, 3}),
                    transpose(x, {0, 2, 1, 3}),
                    transpose(x),
                    slice(x, {1, 0, 1, 0}, {1, 2, 3, width}),
                    slice(x, {0, 1, 0, width / 4}, {2, 2, 3, (width + 1) / 2}),
                    concat({x, slice(x, {0, 0, 0, 0}, {2, 3, 4, (width + 1) / 2})}, 3),
                    concat({x, x}, 1),
                    pad(x, {{0, 0}, {1, 1}, {2, 0}, {0, 0}}),
                    pad(x, {{0, 0}, {0, 0}, {0, 1}, {1, 16}})};
    return results;
  });
}

TEST_CASE("numbers that repeat along rows agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const std::pair<Shape, Shape> shapes[] = {
      {{6, 1}, {6, 16}}, {{3, 1, 1}, {3, 4, 8}}, {{6, 1}, {6, 7}}, {{1, 16}, {6, 16}}, {{1}, {5}}};
  for (const DType dtype : kTypes)
    for (const auto& [from, to] : shapes)
      check_contract(name_of(dtype),
                     [&, &to = to](const Tensors& in) {
                       const Tensor x = cast(in[0], dtype), y = cast(in[1], dtype);
                       return Tensors{broadcast_to(x, to), x + y, y - x};
                     },
                     {contract_numbers(from, 1, 90), contract_numbers(to, 2, 90)},
                     {.tolerance = 0, .gradients = false});
}

TEST_CASE("gathers agree on both devices for rows of any width", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor ids(Shape{5}, std::vector<int64_t>{2, 0, 2, 1, 1});
  check_rows("gather", [&](const Tensor& x) {
    return Tensors{gather(reshape(x, {6, 4, x.shape()[3]}), ids), gather(x, ids, 1),
                   gather(x, ids, 2), nn::embedding_lookup(reshape(x, {24, x.shape()[3]}), ids)};
  });
}

TEST_CASE("gradients of gathered rows agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor ids(Shape{6}, std::vector<int64_t>{2, 0, 2, 1, 1, 2});
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16})
    for (const int64_t width : kWidths)
      check_contract(str_cat(name_of(dtype), " of ", width),
                     [&](const Tensors& in) {
                       const Tensor x = cast(in[0], dtype);
                       return Tensors{gather(x, ids, 1), gather(x, ids)};
                     },
                     {contract_numbers({3, 3, width})}, {.tolerance = 0});
}

TEST_CASE("one-hot rows agree on both devices for any depth", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor ids(Shape{2, 3}, std::vector<int32_t>{4, 0, -1, 1, 20, 2});
  for (const DType dtype : kTypes)
    for (const int64_t depth : {1, 3, 4, 10, 16, 33})
      check_contract(str_cat(name_of(dtype), " of depth ", depth),
                     [&](const Tensors& in) {
                       return Tensors{one_hot(in[0], depth, 3, 1, -1, dtype),
                                      one_hot(in[0], depth, 1, 0, 0, dtype),
                                      one_hot(cast(in[0], DType::Int64), depth, 1, 0, 1, dtype)};
                     },
                     {ids}, {.tolerance = 0});
}

TEST_CASE("sums of columns agree on both devices for any width", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : kTypes)
    for (const int64_t width : {1, 3, 4, 8, 20})
      for (const int64_t rows : {1, 7, 150}) {
        const Shape shape{2, rows, width};
        check_contract(
            str_cat(name_of(dtype), " of ", rows, " rows of ", width),
            [&](const Tensors& in) {
              const Tensor x = placed(cast(in[0], dtype), 3, shape), home = cast(in[1], dtype);
              return Tensors{reduce_sum(x, {1}),       reduce_sum(x, {0, 1}),
                             reduce_max(x, {0}),       reduce_sum(home, {1}),
                             reduce_max(home, {0, 1}), reduce_min(home, {1})};
            },
            {contract_numbers({3 + shape.num_elements()}, 1, 90), contract_numbers(shape, 2, 90)},
            {.gradients = false});
      }
}

TEST_CASE("sums of columns do not depend on where a matrix lies", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16}) {
    const Shape shape{331, 24};
    const Tensor moved = placed(
        cast(contract_numbers({3 + shape.num_elements()}, 7).to(gpu.device()), dtype), 3, shape);
    const Tensor home = moved.to(Device{}).to(gpu.device());  // the same, at the start of a block
    CHECK(reduce_sum(moved, {0}).to_vector() == reduce_sum(home, {0}).to_vector());
    CHECK(reduce_prod(moved, {0}).to_vector() == reduce_prod(home, {0}).to_vector());
  }
}

TEST_CASE("layer normalization's parameters agree for rows of any width", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const int64_t width : {1, 3, 4, 12, 33})
    check_contract(
        str_cat("rows of ", width),
        [](const Tensors& in) { return Tensors{nn::layer_normalization(in[0], in[1], in[2])}; },
        {contract_numbers({70, width}, 1), contract_numbers({width}, 2),
         contract_numbers({width}, 3)},
        {.tolerance = 3e-4f});
}
