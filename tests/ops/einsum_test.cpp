#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {
const Tensor kTall = transpose(kMatrix) * 0.5f;
const Tensor kFour = kMatrix.rows(0, 1).view({4});
const Tensor kSquare = slice(kMatrix, {0, 0}, {3, 3});
const Tensor kHeads = reshape(kCube, {2, 3, 2, 2});
const Tensor kScores =
    slice(reshape(kCube, {2, 2, 3, 2}), {0, 0, 0, 0}, {-1, -1, -1, 1}) * ones({3});
}  // namespace

TEST_CASE("sums of products follow TensorFlow", "[ops][einsum]") {
  check_tensor(einsum("ij,jk->ik", {kMatrix, kTall}), {3, 3},
               {19.5, -0.75, 15.625, -0.75, 10.625, 7.125, 15.625, 7.125, 25.65625});
  check_tensor(einsum("ij,jk", {kMatrix, kTall}), {3, 3},
               {19.5, -0.75, 15.625, -0.75, 10.625, 7.125, 15.625, 7.125, 25.65625});
  check_tensor(einsum("ij->ji", {kMatrix}), {4, 3}, {3, 0.5, 2.5, -1, 4, 0.25, 2, -2, -3, 5, 1, 6});
  check_tensor(einsum("ij->", {kMatrix}), {}, {18.25});
  check_tensor(einsum("ij->j", {kMatrix}), {4}, {6, 3.25, -3, 12});
  check_tensor(einsum("bij,bkj->bik", {kCube, kCube}), {2, 3, 3},
               {10.875, 4.375, -2.125, 4.375, 1.875, -0.625, -2.125, -0.625, 0.875, 7.875, 13.375,
                18.875, 13.375, 22.875, 32.375, 18.875, 32.375, 45.875});
  check_tensor(einsum("bij,kj->kib", {kCube, kMatrix}), {3, 3, 2},
               {-13.5, 13.5, -4.5, 22.5, 4.5, 31.5, -6.25, 4.25, -2.75, 7.75, 0.75, 11.25, -8.4375,
                8.8125, -2.6875, 14.5625, 3.0625, 20.3125});
  check_tensor(einsum("i,j->ij", {kTies, kTies}), {5, 5},
               {16, 4, 12, 4, 8, 4, 1, 3, 1, 2, 12, 3, 9, 3, 6, 4, 1, 3, 1, 2, 8, 2, 6, 2, 4});
  check_tensor(einsum("ij,ij->", {kMatrix, kMatrix}), {}, {111.5625});
  check_tensor(einsum("ij,ij->ij", {kMatrix, kMatrix}), {3, 4},
               {9, 1, 4, 25, 0.25, 16, 4, 1, 6.25, 0.0625, 9, 36});
  check_tensor(einsum("...ij,...kj->...ik", {kCube, kMatrix}), {2, 3, 3},
               {-13.5, -6.25, -8.4375, -4.5, -2.75, -2.6875, 4.5, 0.75, 3.0625, 13.5, 4.25, 8.8125,
                22.5, 7.75, 14.5625, 31.5, 11.25, 20.3125});
  check_tensor(einsum("...j,j->...", {kCube, kFour}), {2, 3}, {-13.5, -4.5, 4.5, 13.5, 22.5, 31.5});
  check_tensor(einsum("ii->i", {kSquare}), {3}, {3, 4, -3});
  check_tensor(einsum("ii", {kSquare}), {}, {4});
  check_tensor(einsum("ij,jk,kl->il", {kMatrix, kTall, kMatrix}), {3, 4},
               {97.1875, -18.59375, -6.375, 190.5, 20.875, 45.03125, -44.125, 49.625, 114.578125,
                19.2890625, -59.96875, 239.1875});
  check_tensor(
      einsum("ab,cd->cabd", {kMatrix, kSquare}), {3, 3, 4, 3},
      {9,     -3,    6,      -3,    1,    -2,    6,     -2,    4,   15,   -5,   10,   1.5,  -0.5,
       1,     12,    -4,     8,     -6,   2,     -4,    3,     -1,  2,    7.5,  -2.5, 5,    0.75,
       -0.25, 0.5,   -9,     3,     -6,   18,    -6,    12,    1.5, 12,   -6,   -0.5, -4,   2,
       1,     8,     -4,     2.5,   20,   -10,   0.25,  2,     -1,  2,    16,   -8,   -1,   -8,
       4,     0.5,   4,      -2,    1.25, 10,    -5,    0.125, 1,   -0.5, -1.5, -12,  6,    3,
       24,    -12,   7.5,    0.75,  -9,   -2.5,  -0.25, 3,     5,   0.5,  -6,   12.5, 1.25, -15,
       1.25,  0.125, -1.5,   10,    1,    -12,   -5,    -0.5,  6,   2.5,  0.25, -3,   6.25, 0.625,
       -7.5,  0.625, 0.0625, -0.75, -7.5, -0.75, 9,     15,    1.5, -18});
  check_tensor(einsum("bqhd,bkhd->bhqk", {kHeads, kHeads}), {2, 2, 3, 3},
               {7.0625, 3.3125, -0.4375, 3.3125, 1.5625,  -0.1875, -0.4375, -0.1875, 0.0625,
                3.8125, 1.0625, -1.6875, 1.0625, 0.3125,  -0.4375, -1.6875, -0.4375, 0.8125,
                2.5625, 4.8125, 7.0625,  4.8125, 9.0625,  13.3125, 7.0625,  13.3125, 19.5625,
                5.3125, 8.5625, 11.8125, 8.5625, 13.8125, 19.0625, 11.8125, 19.0625, 26.3125});
  check_tensor(einsum("bhqk,bkhd->bqhd", {kScores, kHeads}), {2, 3, 2, 2},
               {6, 4.5,  0.75,  0.375,  4.5, 3.375,  0,    0,     3,  2.25, -0.75, -0.375,
                6, 6.75, 18.75, 20.625, 9,   10.125, 22.5, 24.75, 12, 13.5, 26.25, 28.875});
  check_tensor(einsum("ij , j -> i", {kMatrix, kFour}), {3}, {39, -1.5, 31.25});
}

TEST_CASE("gradients of sums of products", "[ops][einsum]") {
  for (const char* equation : {"bij,kj->kib", "...ij,...kj->...ik", "bij,kj->"})
    check_gradient([=](const auto& in) { return einsum(equation, in); }, {kCube, kMatrix});
  check_gradient([](const auto& in) { return einsum("ii->i", in); }, {kSquare});
}

TEST_CASE("equations that do not fit are an error that shows them", "[ops][einsum]") {
  const auto fails = [](const char* equation, std::vector<Tensor> tensors) {
    CHECK_THROWS_WITH(einsum(equation, tensors), Contains(equation));
  };
  fails("ij,jk->ik", {kMatrix});
  fails("ij,jk->ik", {kMatrix, kMatrix});
  fails("ijk->k", {kMatrix});
  fails("ij->ijj", {kMatrix});
  fails("ij->k", {kMatrix});
  fails("i1->i", {kMatrix});
  fails("..ij->ij", {kCube});
  fails("...j->j", {kCube});
  fails("ii->i", {kMatrix});
}
