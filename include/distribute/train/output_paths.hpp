#pragma once
/// Finds out before the first step whether everything that a run writes can be written.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute::train {

enum class OutputKind {  // what an output path is for
  File,                  // its directory must exist
  Prefix,                // of the names of files; the same
  Directory,             // files appear in it; made when it is missing
  Alone,                 // the same, which holds one thing, such as a SavedModel, and nothing else
};

/// One of a run's outputs.
struct OutputPath {
  std::string name;  // in errors: "--json"
  std::string path;  // "": nothing is written
  OutputKind kind = OutputKind::File;
};

/// Whether the path is the directory or lies below it.
bool lies_in(const std::string& path, const std::string& directory);

/// Looks at paths of local file systems; every task does.
/// Throws  InvalidArgumentError where two outputs have one path, one lies in another's directory of
///         kind Alone, or a directory stands where a file is to be, or a file for a directory;
///         PermissionDeniedError where a directory cannot be written. Both name the output and the
///         path.
void check_output_paths(const std::vector<OutputPath>& outputs);

/// Writes a small object into each output's directory on a store, such as s3://, and removes it;
/// the task that will write does.
/// Throws  what the store says, with the output's name.
void check_output_stores(const std::vector<OutputPath>& outputs);

}  // namespace distribute::train
