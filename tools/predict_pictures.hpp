#pragma once
/// What `distribute predict` is given, as pictures one after the other.

#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute_tools {

/// Either the bytes of a file, or an image of an IDX file.
struct Picture {
  std::string name;
  std::string encoded;          // JPEG or PNG
  distribute::Tensor idx = {};  // uint8 [height, width]
};

struct PictureVisitor {
  std::function<void(const Picture&)> picture;
  std::function<void(const std::string& name, const std::string& problem)> problem;
};

/// Calls the visitor for what each word stands for, in order: a JPEG or PNG file; a folder, which
/// is searched for .jpg, .jpeg and .png files, folders in it included; a TFRecord file of examples
/// with "image/encoded", or an IDX file of images, compressed or not, all of it or with FILE:INDEX
/// one picture; "-" for the words on the lines of the standard input. What cannot be read is a
/// problem that names it, and the next one is tried.
void visit_pictures(const std::vector<std::string>& words, const PictureVisitor& visitor);

}  // namespace distribute_tools
