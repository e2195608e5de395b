#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/datasets/detail/directory_files.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>

namespace distribute::data {

DISTRIBUTE_INLINE DirectoryLabels::DirectoryLabels(const char* inferred) {
  if (std::string_view(inferred) != "inferred")
    throw InvalidArgumentError(
        str_cat("labels is \"", inferred, "\"; it must be \"inferred\", which takes the names of ",
                "folders, std::nullopt for none, or one integer for each file"));
}

namespace data_internal {

/// Files with their labels. `labels` is empty where there are none.
struct DirectoryFiles {
  std::vector<std::string> class_names = {}, paths = {};
  std::vector<int32_t> labels = {};
};

[[noreturn]] DISTRIBUTE_INLINE void refuse(const DirectoryRequest& request,
                                           const std::string& why) {
  throw InvalidArgumentError(str_cat(request.function, ": ", why));
}

DISTRIBUTE_INLINE std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return "[" + text + "]";
}

DISTRIBUTE_INLINE void check_split(const DirectoryRequest& r) {
  const double split = r.validation_split;
  if (split != 0 && !(split > 0 && split < 1))
    refuse(r, str_cat("validation_split is ", split, "; it must be between 0 and 1"));
  if ((split != 0) != r.subset.has_value())
    refuse(r, "validation_split and subset belong together: set both or neither");
  if (r.subset && *r.subset != "training" && *r.subset != "validation" && *r.subset != "both")
    refuse(r, str_cat("subset is \"", *r.subset,
                      "\"; it must be \"training\", \"validation\" or \"both\""));
  if (split != 0 && r.shuffle && !r.seed)
    refuse(r,
           "a validation_split of shuffled files needs a seed, so that no file is in both parts");
}

DISTRIBUTE_INLINE void check_request(const DirectoryRequest& r) {
  static const std::set<std::string> kModes = {"int", "binary", "categorical"};
  if (r.labels.numbers() && !r.class_names.empty())
    refuse(r, "class_names is only for labels = \"inferred\"; given labels name their classes");
  if (r.label_mode && !kModes.contains(*r.label_mode))
    refuse(r, str_cat("label_mode is \"", *r.label_mode,
                      "\"; it must be \"int\", \"binary\", \"categorical\" or std::nullopt"));
  const bool has_labels = r.label_mode && (r.labels.are_inferred() || r.labels.numbers());
  if (!has_labels && !r.class_names.empty())
    refuse(r, "class_names is set, and labels or label_mode is std::nullopt; leave one out");
  if (std::set<std::string>(r.class_names.begin(), r.class_names.end()).size() !=
      r.class_names.size())
    refuse(r, str_cat("class_names is ", quoted_list(r.class_names), "; a name is there twice"));
  if (r.batch_size && *r.batch_size < 1)
    refuse(r, str_cat("batch_size is ", *r.batch_size, "; it must be at least 1"));
  if (r.seed && *r.seed > UINT32_MAX)
    refuse(r, str_cat("seed is ", *r.seed, "; it must be below 2^32, as NumPy's"));
  check_split(r);
}

/// The folders of the directory that are classes, sorted.
DISTRIBUTE_INLINE std::vector<std::string> class_folders(io::FileSystem& system,
                                                         const DirectoryRequest& r) {
  std::vector<std::string> found;
  for (const std::string& name : value_or_throw(system.list_directory(r.directory)))
    if (!name.starts_with(".") &&
        value_or_throw(system.is_directory(io::join_path(r.directory, name))))
      found.push_back(name);
  if (r.class_names.empty()) return found;
  for (const std::string& name : r.class_names)
    if (std::ranges::find(found, name) == found.end())
      refuse(r, str_cat("class_names is ", quoted_list(r.class_names), ", but ", r.directory,
                        " has the folders ", quoted_list(found)));
  return r.class_names;
}

DISTRIBUTE_INLINE bool is_link(const std::string& path) {
  const std::string_view scheme = io::scheme_of(path);
  if (!scheme.empty() && scheme != "file") return false;
  return std::filesystem::is_symlink(scheme.empty() ? path : path.substr(7));
}

DISTRIBUTE_INLINE bool has_ending(std::string name, const DirectoryRequest& r) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return std::ranges::any_of(r.endings, [&](auto ending) { return name.ends_with(ending); });
}

/// Files by the folder that they are in, which is the order of Python's sorted(os.walk()).
using FilesByFolder = std::map<std::string, std::vector<std::string>>;

DISTRIBUTE_INLINE void walk(io::FileSystem& system, const DirectoryRequest& r,
                            const std::string& folder, FilesByFolder& found) {
  std::vector<std::string>& files = found[folder];
  for (const std::string& name : value_or_throw(system.list_directory(folder))) {
    const std::string path = io::join_path(folder, name);
    if (!value_or_throw(system.is_directory(path))) {
      if (has_ending(name, r)) files.push_back(path);
    } else if (r.follow_links || !is_link(path)) {
      walk(system, r, path, found);
    }
  }
}

DISTRIBUTE_INLINE void add_files(const FilesByFolder& found, DirectoryFiles& files) {
  for (const auto& [folder, paths] : found)
    files.paths.insert(files.paths.end(), paths.begin(), paths.end());
}

/// Files of the folders that are classes.
DISTRIBUTE_INLINE DirectoryFiles labelled_files(io::FileSystem& system, const DirectoryRequest& r) {
  DirectoryFiles files;
  files.class_names = class_folders(system, r);
  for (size_t label = 0; label < files.class_names.size(); ++label) {
    FilesByFolder found;
    walk(system, r, io::join_path(r.directory, files.class_names[label]), found);
    add_files(found, files);
    files.labels.resize(files.paths.size(), int32_t(label));
  }
  return files;
}

/// Files of all folders, with the labels that are given, if any.
DISTRIBUTE_INLINE DirectoryFiles all_files(io::FileSystem& system, const DirectoryRequest& r) {
  DirectoryFiles files;
  FilesByFolder found;
  walk(system, r, r.directory, found);
  add_files(found, files);
  if (!r.labels.numbers() || !r.label_mode) return files;
  files.labels = *r.labels.numbers();
  if (files.labels.size() != files.paths.size())
    refuse(r, str_cat("there are ", files.labels.size(), " labels and ", files.paths.size(),
                      " files in ", r.directory));
  for (const int32_t label : std::set<int32_t>(files.labels.begin(), files.labels.end()))
    files.class_names.push_back(str_cat(label));
  return files;
}

/// The order in which numpy.random.RandomState(seed).shuffle puts `count` elements.
DISTRIBUTE_INLINE std::vector<size_t> numpy_order(size_t count, uint32_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(seed);
  for (size_t i = count; i-- > 1;) {
    const size_t mask = std::bit_ceil(i + 1) - 1;
    size_t other = random() & mask;
    while (other > i) other = random() & mask;
    std::swap(order[i], order[other]);
  }
  return order;
}

/// Gives the files with these numbers, in this order.
DISTRIBUTE_INLINE DirectoryFiles chosen(const DirectoryFiles& all,
                                        std::span<const size_t> numbers) {
  DirectoryFiles some{.class_names = all.class_names};
  for (const size_t number : numbers) {
    some.paths.push_back(all.paths[number]);
    if (!all.labels.empty()) some.labels.push_back(all.labels[number]);
  }
  return some;
}

DISTRIBUTE_INLINE DirectoryFiles index_directory(DirectoryRequest& r) {
  if (r.shuffle && !r.seed) r.seed = random::next_seed() & UINT32_MAX;
  io::FileSystem& system = *value_or_throw(io::file_system_for(r.directory));
  const bool infers = r.labels.are_inferred() && r.label_mode;
  DirectoryFiles files = infers ? labelled_files(system, r) : all_files(system, r);
  const bool has_labels = infers || (r.labels.numbers() && r.label_mode);
  if (r.verbose && has_labels)
    std::printf("Found %zu files belonging to %zu classes.\n", files.paths.size(),
                files.class_names.size());
  else if (r.verbose)
    std::printf("Found %zu files.\n", files.paths.size());
  if (r.label_mode == "binary" && has_labels && files.class_names.size() != 2)
    refuse(r, str_cat("label_mode = \"binary\" needs two classes; there are ",
                      quoted_list(files.class_names)));
  if (!r.shuffle) return files;
  return chosen(files, numpy_order(files.paths.size(), uint32_t(*r.seed)));
}

/// The files of one part of a split; the last ones are for validation.
DISTRIBUTE_INLINE DirectoryFiles part_of(const DirectoryFiles& files, const DirectoryRequest& r,
                                         bool validates) {
  const size_t all = files.paths.size(), held_back = size_t(r.validation_split * double(all));
  if (all > 0 && held_back == 0)
    refuse(r, str_cat("a validation_split of ", r.validation_split, " leaves none of ", all,
                      " files for validation"));
  if (r.verbose && validates) std::printf("Using %zu files for validation.\n", held_back);
  if (r.verbose && !validates) std::printf("Using %zu files for training.\n", all - held_back);
  std::vector<size_t> numbers(validates ? held_back : all - held_back);
  std::iota(numbers.begin(), numbers.end(), validates ? all - held_back : 0);
  return chosen(files, numbers);
}

/// A label as label_mode says.
DISTRIBUTE_INLINE Tensor label_tensor(int32_t label, const std::string& mode, size_t classes) {
  if (mode == "int") return label;
  if (mode == "binary") return Tensor(Shape{1}, std::vector<float>{float(label)});
  std::vector<float> one_hot(classes);
  if (label >= 0 && size_t(label) < classes) one_hot[size_t(label)] = 1;
  return Tensor(Shape{int64_t(classes)}, one_hot);
}

DISTRIBUTE_INLINE TensorSpec label_spec(const std::string& mode, size_t classes) {
  if (mode == "int") return {{}, DType::Int32};
  return {{mode == "binary" ? 1 : int64_t(classes)}, DType::Float32};
}

DISTRIBUTE_INLINE Dataset elements_of(const std::shared_ptr<const DirectoryFiles>& files,
                                      const DirectoryRequest& r, bool shuffles) {
  Dataset numbers = Dataset::range(int64_t(files->paths.size()));
  if (shuffles)
    numbers = numbers.shuffle(r.batch_size ? *r.batch_size * 8 : 1024, {.seed = r.seed});
  const size_t classes = files->class_names.size();
  const bool has_labels = !files->labels.empty();
  const std::string mode = r.label_mode.value_or("");
  ElementSpec spec{r.spec};
  if (has_labels) spec.push_back(label_spec(mode, classes));
  const auto element = [files, load = r.load, mode, classes, has_labels](const Batch& number) {
    const size_t at = size_t(number.x.item<int64_t>());
    Batch made{.x = load(files->paths[at])};
    if (has_labels) made.y = label_tensor(files->labels[at], mode, classes);
    return made;
  };
  return numbers.map(element, {.num_parallel_calls = kAutotune, .output_spec = spec});
}

DISTRIBUTE_INLINE DirectoryDataset dataset_of(const DirectoryFiles& given,
                                              const DirectoryRequest& r, bool shuffles,
                                              const char* part) {
  if (given.paths.empty()) refuse(r, str_cat("no ", part, r.contents, " found in ", r.directory));
  const auto files = std::make_shared<const DirectoryFiles>(given);
  Dataset elements = elements_of(files, r, shuffles);
  if (r.batch_size)
    elements =
        is_static({r.spec}) ? elements.batch(*r.batch_size) : elements.padded_batch(*r.batch_size);
  return {elements.prefetch(), files->class_names, files->paths};
}

DISTRIBUTE_INLINE DirectoryDataset directory_dataset(DirectoryRequest request) {
  check_request(request);
  if (request.subset == "both")
    refuse(request, "subset is \"both\": the function of that name with `datasets` gives both");
  const DirectoryFiles files = index_directory(request);
  return dataset_of(
      request.subset ? part_of(files, request, request.subset == "validation") : files, request,
      request.shuffle, "");
}

DISTRIBUTE_INLINE std::pair<DirectoryDataset, DirectoryDataset> directory_datasets(
    DirectoryRequest request) {
  if (request.subset.value_or("both") != "both")
    refuse(request, str_cat("subset is \"", *request.subset, "\"; this function gives both parts"));
  request.subset = "both";
  check_request(request);
  const DirectoryFiles files = index_directory(request);
  return {dataset_of(part_of(files, request, false), request, request.shuffle, "training "),
          dataset_of(part_of(files, request, true), request, false, "validation ")};
}

}  // namespace data_internal

}  // namespace distribute::data
