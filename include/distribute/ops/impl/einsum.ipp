#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>
#include <cctype>
#include <map>

namespace distribute {

namespace ops_internal {

/// A tensor whose axes have letters. The axes of "..." have the digits 9, 8, ... from the last one
/// on, so that the same digit means the same axis in all terms.
struct Term {
  Tensor value;
  std::string axes;
};

[[noreturn]] DISTRIBUTE_INLINE void fail_einsum(const std::string& equation,
                                                const std::string& why) {
  throw InvalidArgumentError(str_cat("einsum: \"", equation, "\": ", why));
}

/// The parts of the equation.
struct EinsumText {
  std::vector<std::string> terms;
  std::string result;
};

/// Gives the digits of `count` axes of "...".
DISTRIBUTE_INLINE std::string ellipsis_axes(int count) {
  std::string axes;
  for (int i = count; i > 0; --i) axes.push_back(char('9' + 1 - i));
  return axes;
}

/// Gives the result of an equation without "->": axes of "...", then letters that occur once.
DISTRIBUTE_INLINE std::string implied_result(const std::vector<std::string>& terms) {
  std::map<char, int> seen;
  bool has_ellipsis = false;
  for (const std::string& term : terms)
    for (char axis : term) {
      if (axis == '.')
        has_ellipsis = true;
      else
        ++seen[axis];
    }
  std::string result = has_ellipsis ? "..." : "";
  for (const auto& [axis, times] : seen)
    if (times == 1) result.push_back(axis);
  return result;
}

DISTRIBUTE_INLINE EinsumText parse_einsum(const std::string& equation) {
  std::string text;
  for (char c : equation)
    if (c != ' ') text.push_back(c);
  const size_t arrow = text.find("->");
  EinsumText parsed{{""}, ""};
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      parsed.terms.emplace_back();
    else if (std::isalpha(static_cast<unsigned char>(c)) || c == '.')
      parsed.terms.back().push_back(c);
    else
      fail_einsum(equation, str_cat("'", c, "' is no letter"));
  }
  parsed.result =
      arrow == std::string::npos ? implied_result(parsed.terms) : text.substr(arrow + 2);
  return parsed;
}

/// Gives `axes` with "..." replaced by the digits of `count` axes.
DISTRIBUTE_INLINE std::string without_ellipsis(const std::string& equation, std::string axes,
                                               int count) {
  const size_t dots = axes.find("...");
  if (dots != std::string::npos) axes.replace(dots, 3, ellipsis_axes(count));
  if (axes.find('.') != std::string::npos) fail_einsum(equation, "\"...\" has three dots, once");
  return axes;
}

DISTRIBUTE_INLINE Term term_of(const std::string& equation, const std::string& axes,
                               const Tensor& value) {
  const bool has_ellipsis = axes.find("...") != std::string::npos;
  const int rest = value.shape().rank() - int(axes.size()) + (has_ellipsis ? 3 : 0);
  if (rest < 0 || (rest > 0 && !has_ellipsis))
    fail_einsum(equation, str_cat("\"", axes, "\" does not fit ", to_string(value.shape())));
  return {value, without_ellipsis(equation, axes, rest)};
}

/// Takes the diagonal of axes that have the same letter.
DISTRIBUTE_INLINE Term diagonal(const std::string& equation, Term term) {
  for (size_t i = 0; i < term.axes.size(); ++i)
    for (size_t j; (j = term.axes.find(term.axes[i], i + 1)) != std::string::npos;) {
      const Shape& shape = term.value.shape();
      const int64_t size = shape[int(i)];
      if (shape[int(j)] != size)
        fail_einsum(equation,
                    str_cat("axes '", term.axes[i], "' of ", to_string(shape), " differ"));
      Shape spread;
      for (int axis = 0; axis < shape.rank(); ++axis)
        spread.push_back(axis == int(i) || axis == int(j) ? size : 1);
      const Tensor ones = reshape(eye(size, size, term.value.dtype()), spread);
      term = {reduce_sum(term.value * ones, {int(j)}), term.axes.erase(j, 1)};
    }
  return term;
}

/// Sums over the axes that are not among `wanted`.
DISTRIBUTE_INLINE Term sum_others(Term term, const std::string& wanted) {
  std::vector<int> axes;
  std::string left;
  for (size_t i = 0; i < term.axes.size(); ++i)
    if (wanted.find(term.axes[i]) == std::string::npos)
      axes.push_back(int(i));
    else
      left.push_back(term.axes[i]);
  return {axes.empty() ? term.value : reduce_sum(term.value, axes), left};
}

/// Gives the axes in the order of `wanted`; axes that the term lacks have size 1.
DISTRIBUTE_INLINE Tensor ordered(const Term& term, const std::string& wanted) {
  std::vector<int> order;
  Shape shape;
  for (char axis : wanted) {
    const size_t at = term.axes.find(axis);
    shape.push_back(at == std::string::npos ? 1 : term.value.shape()[int(at)]);
    if (at != std::string::npos) order.push_back(int(at));
  }
  const bool is_ordered = std::is_sorted(order.begin(), order.end());
  return reshape(is_ordered ? term.value : transpose(term.value, order), shape);
}

/// The axes that two terms share, and the axes of one term alone.
struct SharedAxes {
  std::string batch, summed, left, right;
};

DISTRIBUTE_INLINE SharedAxes shared_axes(const Term& a, const Term& b, const std::string& wanted) {
  SharedAxes axes;
  const auto is_in = [](const std::string& text, char c) { return text.find(c) != text.npos; };
  for (char c : a.axes) {
    const bool both = is_in(b.axes, c) || std::isdigit(static_cast<unsigned char>(c));
    (both ? (is_in(wanted, c) ? axes.batch : axes.summed) : axes.left).push_back(c);
  }
  for (char c : b.axes)
    if (!is_in(a.axes, c))
      (std::isdigit(static_cast<unsigned char>(c)) ? axes.batch : axes.right).push_back(c);
  return axes;
}

DISTRIBUTE_INLINE int64_t size_of_axes(const Term& term, const std::string& axes) {
  int64_t size = 1;
  for (char axis : axes) size *= term.value.shape()[int(term.axes.find(axis))];
  return size;
}

/// Checks that the sizes of a letter are equal; those of "..." may be 1.
DISTRIBUTE_INLINE void check_sizes(const std::string& equation, const Term& a, const Term& b) {
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const size_t j = b.axes.find(a.axes[i]);
    if (j == std::string::npos) continue;
    const int64_t size = a.value.shape()[int(i)], other = b.value.shape()[int(j)];
    const bool broadcasts =
        std::isdigit(static_cast<unsigned char>(a.axes[i])) && (size == 1 || other == 1);
    if (size != other && !broadcasts)
      fail_einsum(equation, str_cat("an axis has size ", size, " in ", to_string(a.value.shape()),
                                    " and ", other, " in ", to_string(b.value.shape())));
  }
}

/// Computes the product of two terms, with the axes that are needed later.
DISTRIBUTE_INLINE Term product(const std::string& equation, Term a, Term b,
                               const std::string& wanted) {
  check_sizes(equation, a, b);
  a = sum_others(a, wanted + b.axes);
  b = sum_others(b, wanted + a.axes);
  const SharedAxes axes = shared_axes(a, b, wanted);
  const auto matrices = [&](const Term& term, const std::string& rows, const std::string& columns) {
    const Tensor value = ordered(term, axes.batch + rows + columns);
    Shape shape;
    for (size_t i = 0; i < axes.batch.size(); ++i) shape.push_back(value.shape()[int(i)]);
    shape.push_back(size_of_axes(term, rows));
    shape.push_back(size_of_axes(term, columns));
    return reshape(value, shape);
  };
  const Tensor y =
      matmul(matrices(a, axes.left, axes.summed), matrices(b, axes.summed, axes.right));
  Shape shape;
  for (size_t i = 0; i < axes.batch.size(); ++i) shape.push_back(y.shape()[int(i)]);
  for (char axis : axes.left) shape.push_back(a.value.shape()[int(a.axes.find(axis))]);
  for (char axis : axes.right) shape.push_back(b.value.shape()[int(b.axes.find(axis))]);
  return {reshape(y, shape), axes.batch + axes.left + axes.right};
}

/// Checks the axes of the result.
/// Throws  InvalidArgumentError for a result that names an axis twice, or one that no term has.
DISTRIBUTE_INLINE void check_result(const std::string& equation, const std::vector<Term>& terms,
                                    const std::string& result) {
  for (size_t i = 0; i < result.size(); ++i) {
    const bool known = std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
      return term.axes.find(result[i]) != std::string::npos;
    });
    if (!known || result.find(result[i], i + 1) != std::string::npos)
      fail_einsum(equation, str_cat("the result's '", result[i], "' must be in a term, and once"));
  }
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  using namespace ops_internal;
  const EinsumText text = parse_einsum(equation);
  if (text.terms.size() != operands.size())
    fail_einsum(equation, str_cat(text.terms.size(), " terms for ", operands.size(), " tensors"));
  std::vector<Term> terms;
  int broadcast = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(diagonal(equation, term_of(equation, text.terms[i], operands[i])));
    const auto digits = std::count_if(terms[i].axes.begin(), terms[i].axes.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c));
    });
    broadcast = std::max(broadcast, int(digits));
  }
  if (broadcast > 0 && text.result.find("...") == std::string::npos)
    fail_einsum(equation, "the result must have \"...\", too");
  const std::string result = without_ellipsis(equation, text.result, broadcast);
  check_result(equation, terms, result);
  Term y = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string wanted = result;
    for (size_t later = i + 1; later < terms.size(); ++later) wanted += terms[later].axes;
    y = product(equation, y, terms[i], wanted);
  }
  return ordered(sum_others(y, result), result);
}

}  // namespace distribute
