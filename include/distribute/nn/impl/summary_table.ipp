#pragma once
#include <distribute/base/detail/type_names.hpp>
#include <distribute/nn/detail/summary_table.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <sstream>
#include <typeinfo>
#include <vector>

namespace distribute::nn::nn_internal {

/// Keras's class of a kind: "conv2d_transpose" is Conv2DTranspose.
DISTRIBUTE_INLINE std::string class_of_kind(const std::string& kind) {
  static const std::map<std::string, std::string> words = {
      {"lstm", "LSTM"}, {"gru", "GRU"}, {"rnn", "RNN"}, {"rms", "RMS"}, {"lu", "LU"}};
  std::string name;
  std::istringstream stream(kind);
  for (std::string word; std::getline(stream, word, '_');) {
    if (const auto known = words.find(word); known != words.end()) {
      name += known->second;
      continue;
    }
    if (!word.empty()) word[0] = char(std::toupper(word[0]));
    const size_t end = word.size();
    if (end > 1 && word[end - 1] == 'd' && std::isdigit(word[end - 2])) word[end - 1] = 'D';
    name += word;
  }
  return name;
}

/// A capital letter begins a word behind a small one, and before one if it is not the first.
DISTRIBUTE_INLINE std::string kind_of_class(const std::string& name) {
  std::string kind;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto is_small = [&](size_t at) {
      return at < name.size() && std::islower(static_cast<unsigned char>(name[at]));
    };
    const bool is_capital = std::isupper(static_cast<unsigned char>(name[i]));
    if (i > 0 && is_capital && (is_small(i - 1) || is_small(i + 1))) kind += '_';
    kind += char(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return kind;
}

/// Classes of the library that Keras does not have are shown as its own are.
DISTRIBUTE_INLINE std::string class_of(const Module& module) {
  const auto& type = typeid(module);
  const bool is_ours = base_internal::readable_type(type.name()).rfind("distribute::", 0) == 0;
  return is_ours ? class_of_kind(module.class_name()) : base_internal::class_name(type);
}

/// 216778 -> "216,778".
DISTRIBUTE_INLINE std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > 0; at -= 3) text.insert(size_t(at), ",");
  return text;
}

DISTRIBUTE_INLINE std::string summary_line(const std::string& name, const std::string& class_name,
                                           const std::optional<Shape>& output,
                                           std::optional<int64_t> batch_size, int64_t parameters) {
  const std::string batch = batch_size ? std::to_string(*batch_size) : "None";
  std::string shape = "?";
  if (output) {
    shape = "(";
    for (int i = 0; i < output->rank(); ++i) shape += i == 0 ? batch : str_cat(", ", (*output)[i]);
    shape += output->rank() == 1 ? ",)" : ")";
  }
  return str_cat(name, " (", class_name, ")\t", shape, "\t", with_commas(parameters));
}

/// "Total params: 216,778 (846.79 KB)".
DISTRIBUTE_INLINE std::string totals_line(const char* what, const std::vector<Variable>& weights) {
  int64_t count = 0, bytes = 0;
  for (const Variable& weight : weights) {
    count += weight.shape().num_elements();
    bytes += weight.shape().num_elements() * size_of(weight.dtype());
  }
  double size = double(bytes);
  const char* unit = "B";
  for (const char* next : {"KB", "MB", "GB", "TB"})
    if (size >= 1024) {
      size /= 1024;
      unit = next;
    }
  char text[32];
  std::snprintf(text, sizeof text, " (%.2f %s)", size, unit);
  return str_cat(" ", what, " params: ", with_commas(count), text, "\n");
}

/// The columns one below the other; the third holds numbers, on the right.
DISTRIBUTE_INLINE std::vector<std::string> aligned(const std::string& lines) {
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> widths;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
    widths.resize(std::max(widths.size(), rows.back().size()));
    for (size_t c = 0; c < rows.back().size(); ++c)
      widths[c] = std::max(widths[c], rows.back()[c].size());
  }
  std::vector<std::string> result;
  for (const auto& row : rows) {
    std::string text;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string blank(widths[c] - row[c].size(), ' ');
      text += (c == 0 ? " " : "   ") + (c == 2 ? blank + row[c] : row[c] + blank);
    }
    result.push_back(text);
  }
  return result;
}

DISTRIBUTE_INLINE std::string summary_table(const Module& model, const std::string& lines,
                                            int columns) {
  const std::string head = "Layer (type)\tOutput Shape\tParam #";
  const std::vector<std::string> rows =
      aligned(head + (columns == 4 ? "\tConnected to\n" : "\n") + lines);
  size_t width = 0;
  for (const std::string& row : rows) width = std::max(width, row.size() + 1);
  std::string table = str_cat("Model: \"", model.name(), "\"\n", std::string(width, '-'), "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    table += rows[i].substr(0, rows[i].find_last_not_of(' ') + 1) + "\n";
    if (i == 0) table += std::string(width, '=') + "\n";
  }
  table += std::string(width, '=') + "\n";
  return table + totals_line("Total", model.variables()) +
         totals_line("Trainable", model.trainable_variables()) +
         totals_line("Non-trainable", model.non_trainable_variables());
}

}  // namespace distribute::nn::nn_internal
