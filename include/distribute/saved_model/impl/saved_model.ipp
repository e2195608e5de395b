#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <filesystem>
#include <utility>

#include <unistd.h>

namespace distribute::saved_model_internal {

using io::ProtoWriter;
using saved_model::InferenceNode;

/// TensorInfo.
DISTRIBUTE_INLINE std::string tensor_info(const InferenceNode& node) {
  return ProtoWriter()
      .bytes(1, node.name + ":0")
      .integer(2, int64_t(io::data_type_of(node.dtype)))
      .message(3, io::shape_proto(node.shape))
      .take();
}

DISTRIBUTE_INLINE std::string encode_signature(const saved_model::InferenceGraph& graph) {
  const auto info = [&](int place) { return tensor_info(graph.nodes[size_t(place)]); };
  ProtoWriter signature;
  for (const auto& [key, place] : graph.inputs)
    signature.message(1, io::map_entry_proto(key, info(place)));
  for (const auto& [key, place] : graph.outputs)
    signature.message(2, io::map_entry_proto(key, info(place)));
  return signature.bytes(3, "tensorflow/serving/predict").take();
}

/// A collection of VariableDefs, so that loaders list the variables.
DISTRIBUTE_INLINE std::string variable_collection(const std::vector<InferenceNode>& nodes,
                                                  bool only_trainable) {
  ProtoWriter list;
  for (const InferenceNode& node : nodes) {
    if (only_trainable && !node.variable.trainable()) continue;
    list.message(1, ProtoWriter()
                        .bytes(1, node.name + ":0")
                        .bytes(2, node.name + "/Assign")
                        .bytes(3, node.name + "/Read/ReadVariableOp:0")
                        .integer(5, 1)
                        .bytes(6, node.name + "/Initializer/zeros:0")
                        .integer(7, node.variable.trainable()));
  }
  return ProtoWriter().message(2, list).take();
}

DISTRIBUTE_INLINE std::string encode_saver() {
  return ProtoWriter()
      .bytes(1, str_cat(saved_model::kSaverFilename, ":0"))
      .bytes(2, str_cat(saved_model::kSaverControl, ":0"))
      .bytes(3, saved_model::kSaverRestore)
      .integer(7, 2)  // V2: TensorBundle
      .take();
}

/// Contents of a SavedModel, which every worker computes before any of them writes.
struct SavedModelContents {
  std::string message;
  std::vector<InferenceNode> variables;
  std::map<std::string, std::string> assets_extra;
};

DISTRIBUTE_INLINE void check_assets(const std::map<std::string, std::string>& assets_extra) {
  for (const auto& [place, source] : assets_extra) {
    const std::filesystem::path path(place);
    const bool below = path.is_relative() && path.has_filename() && *path.begin() != "..";
    if (!below || path.lexically_normal() != path)
      throw InvalidArgumentError(str_cat("save: '", place, "' of assets_extra is not the path of ",
                                         "a file below assets.extra"));
  }
}

DISTRIBUTE_INLINE void copy_asset(const std::string& source, const std::string& place) {
  throw_if_error(value_or_throw(io::file_system_for(place))->make_dirs(io::directory_of(place)));
  throw_if_error(io::write_file_atomically(place, value_or_throw(io::read_file(source))));
}

DISTRIBUTE_INLINE void write_contents(const SavedModelContents& contents,
                                      const std::string& directory) {
  throw_if_error(value_or_throw(io::file_system_for(directory))->make_dirs(directory));
  if (!contents.variables.empty()) {
    train::BundleWriter writer(io::join_path(directory, "variables/variables"));
    for (const InferenceNode& node : contents.variables)
      train::write_tensor(writer, node.name, node.value);
    writer.finish();
  }
  for (const auto& [place, source] : contents.assets_extra)
    copy_asset(source, io::join_path(directory, "assets.extra/" + place));
  throw_if_error(
      io::write_file_atomically(io::join_path(directory, "saved_model.pb"), contents.message));
}

/// Whether `path` exists; throws if it is neither a SavedModel nor empty.
DISTRIBUTE_INLINE bool is_taken(io::FileSystem& files, const std::string& path) {
  if (!value_or_throw(files.exists(path))) return false;
  const auto refuse = [&](const char* what) {
    throw AlreadyExistsError(
        str_cat("save: ", path, " is ", what, "; choose another path, or remove it first"));
  };
  if (!value_or_throw(files.is_directory(path))) refuse("a file");
  const auto names = value_or_throw(files.list_directory(path));
  if (!names.empty() && !value_or_throw(files.exists(io::join_path(path, "saved_model.pb"))))
    refuse("a directory with other things than a SavedModel in it");
  return true;
}

/// A directory of another name that goes away again unless it was put in place.
class DirectoryInPreparation {
 public:
  DirectoryInPreparation(io::FileSystem& files, const std::string& path)
      : files_(files), path_(path), name_(unused_name(path)) {}
  DirectoryInPreparation(const DirectoryInPreparation&) = delete;
  ~DirectoryInPreparation() { io::remove_recursively(name_).IgnoreError(); }

  const std::string& name() const { return name_; }
  /// An older directory steps aside first, and comes back when the new one cannot be put there.
  void put_in_place(bool taken) {
    const std::string aside = unused_name(path_);
    if (taken) throw_if_error(files_.rename(path_, aside));
    const absl::Status status = files_.rename(name_, path_);
    if (!status.ok() && taken) files_.rename(aside, path_).IgnoreError();
    throw_if_error(status);
    io::remove_recursively(aside).IgnoreError();
    const std::string parent = io::directory_of(path_);
    throw_if_error(files_.sync_directory(parent.empty() ? "." : parent));
  }

 private:
  /// Random, so that processes on several machines do not meet.
  static std::string unused_name(const std::string& path) {
    uint64_t number = 0;
    if (::getentropy(&number, sizeof number) != 0) number = uint64_t(::getpid());
    return str_cat(path, ".tempsave", number);
  }

  io::FileSystem& files_;
  const std::string path_, name_;
};

DISTRIBUTE_INLINE std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// Returns what a local path leads to, which need not exist; links lead back to themselves: path.
DISTRIBUTE_INLINE std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path place(path);
  std::error_code none;
  for (int links = 0; links < kMostLinks; ++links) {
    const auto next = std::filesystem::read_symlink(place, none);
    if (none) return place.string();
    place = place.parent_path() / next;
  }
  return path;
}

/// A link at the path stays; what it leads to is replaced.
DISTRIBUTE_INLINE void write_saved_model(const SavedModelContents& contents,
                                         const std::string& named) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(named));
  const std::string_view scheme = io::scheme_of(named);
  const std::string path = scheme.empty() ? behind_links(named) : named;
  const bool taken = is_taken(files, path);
  if (!scheme.empty() && scheme != "file") return write_contents(contents, path);
  const std::string parent = io::directory_of(path);
  if (!parent.empty()) throw_if_error(files.make_dirs(parent));
  DirectoryInPreparation directory(files, path);
  write_contents(contents, directory.name());
  directory.put_in_place(taken);
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE std::string encode_saved_model(const InferenceGraph& graph, const GraphDef& def,
                                                 const SaveOptions& options) {
  using namespace saved_model_internal;
  const auto collection = [&](const char* name, bool only_trainable) {
    return io::map_entry_proto(name, variable_collection(def.saved, only_trainable));
  };
  // Attributes with their default values are left out (7).
  const auto info = ProtoWriter().bytes(4, "serve").integer(7, 1);
  ProtoWriter meta_graph;
  meta_graph.message(1, info).message(2, def.bytes);
  if (!def.saved.empty())
    meta_graph.message(3, encode_saver())
        .message(4, collection("trainable_variables", true))
        .message(4, collection("variables", false));
  meta_graph.message(5, io::map_entry_proto(options.signature, encode_signature(graph)));
  return ProtoWriter().integer(1, 1).message(2, meta_graph).take();  // version of the format
}

DISTRIBUTE_INLINE void check_path(const std::string& path) {
  const std::string place = saved_model_internal::without_last_slashes(path);
  if (place.empty()) throw InvalidArgumentError("save: the path is empty");
  io::FileSystem& files = *value_or_throw(io::file_system_for(place));
  if (const std::string parent = io::directory_of(place); !parent.empty())
    throw_if_error(files.make_dirs(parent));
  saved_model_internal::is_taken(files, place);
}

DISTRIBUTE_INLINE void save(const InferenceFunction& function, const std::string& path,
                            const SaveOptions& options) {
  const std::string key = options.output_name;
  save(
      [&](const Tensor& x) {
        return std::map<std::string, Tensor>{{key, function(x)}};
      },
      path, options);
}

DISTRIBUTE_INLINE void save(const NamedOutputsFunction& function, const std::string& path,
                            const SaveOptions& options) {
  if (!options.input)
    throw InvalidArgumentError("save: a function has no known input; give the option `input`");
  SaveOptions named = options;
  named.inputs = {{options.input_name, *options.input}};
  save([&](const NamedTensors& inputs) { return function(inputs.begin()->second); }, path, named);
}

DISTRIBUTE_INLINE void save(const NamedFunction& function, const std::string& path,
                            const SaveOptions& options) {
  if (path.empty()) throw InvalidArgumentError("save: the path is empty");
  saved_model_internal::check_assets(options.assets_extra);
  const InferenceGraph graph = trace_inference(function, TraceOptions{.inputs = options.inputs});
  GraphDef def = encode_graph_def(graph, options.weights);
  saved_model_internal::SavedModelContents contents{encode_saved_model(graph, def, options),
                                                    std::move(def.saved), options.assets_extra};
  train::WorkerSave saving(get_strategy(), saved_model_internal::without_last_slashes(path));
  saving.run([&] { saved_model_internal::write_saved_model(contents, saving.path()); });
  saving.commit();
}

DISTRIBUTE_INLINE void save(nn::Module& module, const std::string& path,
                            const SaveOptions& options) {
  SaveOptions known = options;
  known.input = inference_input(module, options.input);
  save([&](const Tensor& x) { return module(x); }, path, known);
}

}  // namespace distribute::saved_model
