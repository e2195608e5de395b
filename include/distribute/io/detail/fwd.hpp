#pragma once
/// Names of the io floor for headers that only hold pointers: costs nothing, unlike absl/status.

#include <cstdint>

namespace distribute::io {

enum class Compression;
enum class DataType : int32_t;

class AtomicFile;
class FileSystem;
class InputStream;
class ProtoWriter;
class RandomAccessFile;
class RecordReader;
class RecordWriter;
class WritableFile;

}  // namespace distribute::io
