#include <tests/collective/contract_numbers.hpp>

#include <algorithm>
#include <type_traits>

namespace contract {

using namespace distribute;
using namespace distribute::collective;

template <typename T>
std::vector<T> numbers(int rank, int64_t count, uint64_t salt) {
  uint64_t state = (uint64_t(rank) * 1000003 + uint64_t(count) + salt) * 0xd1342543de82ef95;
  std::vector<T> values(static_cast<size_t>(count));
  for (auto&& value : values) {  // by SplitMix64
    uint64_t bits = state += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    const double x = double((bits ^ (bits >> 31)) >> 11) / double(1ull << 53);
    if constexpr (std::is_same_v<T, bool>)
      value = x < 0.5;
    else if constexpr (std::is_integral_v<T>)
      value = T(1 + x * 3);
    else
      value = T(float((x - 0.5) * (rank % 2 ? 1e3 : 1.0)));
  }
  return values;
}

namespace {

template <typename Sum>
Sum joined(ReductionOp op, Sum a, Sum b) {
  if (op == ReductionOp::Min) return std::min(a, b);
  if (op == ReductionOp::Max) return std::max(a, b);
  return Sum(op == ReductionOp::Product ? a * b : a + b);
}

template <typename Sum>
Sum tree_of(ReductionOp op, std::vector<Sum>& row) {
  for (size_t left = row.size(); left > 1; left = (left + 1) / 2)
    for (size_t i = 0; i < left; i += 2)
      row[i / 2] = i + 1 < left ? joined(op, row[i], row[i + 1]) : row[i];
  return row[0];
}

template <typename T, typename Sum>
T finished(ReductionOp op, Sum sum, size_t ranks) {
  if (op != ReductionOp::Mean) return T(sum);
  if constexpr (std::is_integral_v<T>)
    return T(int64_t(sum) / int64_t(ranks));
  else
    return T(sum * (1.0f / float(ranks)));
}

bool reduced(ReductionOp op, const std::vector<std::vector<bool>>& parts, size_t place) {
  bool any = false, all = true;
  for (const auto& part : parts) any |= part[place], all &= part[place];
  return op == ReductionOp::Sum || op == ReductionOp::Max ? any : all;
}

template <typename T>
T reduced(ReductionOp op, const std::vector<std::vector<T>>& parts, size_t place) {
  using Sum = std::conditional_t<std::is_integral_v<T>, T, float>;
  static thread_local std::vector<Sum> row;  // not one for each of a million elements
  row.clear();
  for (const auto& part : parts) row.push_back(Sum(part[place]));
  return finished<T>(op, tree_of(op, row), parts.size());
}

}  // namespace

template <typename T>
std::vector<T> expected(ReductionOp op, const std::vector<std::vector<T>>& parts) {
  std::vector<T> result(parts[0].size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = reduced(op, parts, i);
  return result;
}

#define CONTRACT_NUMBERS_OF(T)                                \
  template std::vector<T> numbers<T>(int, int64_t, uint64_t); \
  template std::vector<T> expected<T>(ReductionOp, const std::vector<std::vector<T>>&);
CONTRACT_NUMBERS_OF(float)
CONTRACT_NUMBERS_OF(double)
CONTRACT_NUMBERS_OF(bfloat16)
CONTRACT_NUMBERS_OF(float16)
CONTRACT_NUMBERS_OF(bool)
CONTRACT_NUMBERS_OF(uint8_t)
CONTRACT_NUMBERS_OF(int8_t)
CONTRACT_NUMBERS_OF(int32_t)
CONTRACT_NUMBERS_OF(int64_t)

}  // namespace contract
