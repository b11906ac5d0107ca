//===- Npy.cpp - arrays in .npy files -------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Npy.h"

#include "tools/rt/ToolError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <optional>

using llvm::StringRef;

namespace raytention::tool {

StringRef npyTypeName(NpyType type) {
  switch (type) {
  case NpyType::F4:
    return "<f4";
  case NpyType::F8:
    return "<f8";
  case NpyType::I4:
    return "<i4";
  case NpyType::I8:
    return "<i8";
  }
  return "";
}

int64_t NpyArray::size() const {
  // The other extents of an empty array are unchecked and may be anything.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

double NpyArray::floatAt(int64_t index) const {
  const char *at = bytes() + index * npyItemSize(type);
  if (type == NpyType::F8)
    return llvm::bit_cast<double>(llvm::support::endian::read64le(at));
  return llvm::bit_cast<float>(llvm::support::endian::read32le(at));
}

int64_t NpyArray::intAt(int64_t index) const {
  const char *at = bytes() + index * npyItemSize(type);
  if (type == NpyType::I8)
    return int64_t(llvm::support::endian::read64le(at));
  return int32_t(llvm::support::endian::read32le(at));
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

namespace {

/// Reads the header's dictionary: a Python literal with the keys descr,
/// fortran_order and shape, each once, in any order.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// False on anything that is not such a dictionary.
  bool parse() {
    if (!take("{"))
      return false;
    while (!take("}")) {
      std::optional<StringRef> key = string();
      if (!key || !take(":") || !value(*key))
        return false;
      if (!take(",") && !rest.ltrim().starts_with("}"))
        return false;
    }
    return rest.trim().empty() && descr && fortran && hasShape;
  }

  std::optional<StringRef> descr;
  std::optional<bool> fortran;
  llvm::SmallVector<int64_t, 4> shape;

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<StringRef> string() {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return text;
  }

  bool value(StringRef key) {
    if (key == "descr" && !descr)
      return (descr = string()).has_value();
    if (key == "fortran_order" && !fortran) {
      if (take("False"))
        fortran = false;
      else if (take("True"))
        fortran = true;
      return fortran.has_value();
    }
    if (key == "shape" && !hasShape)
      return hasShape = tuple();
    return false;
  }

  bool tuple() {
    if (!take("("))
      return false;
    while (!take(")")) {
      uint64_t extent;
      rest = rest.ltrim();
      if (rest.consumeInteger(10, extent) || extent > INT64_MAX ||
          shape.size() == 32)
        return false;
      shape.push_back(int64_t(extent));
      if (!take(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef rest;
  bool hasShape = false;
};

/// Bytes before the header's text, and of it.
struct NpyPrefix {
  uint64_t size, headerSize;
};

} // namespace

/// Of a file that begins with `start`: 12 bytes, or all there are.
static llvm::Expected<NpyPrefix> readPrefix(StringRef start, StringRef name) {
  if (start.size() < 10)
    return usageError("{0}: expected a .npy file, got {1} bytes", name,
                      start.size());
  if (!start.starts_with("\x93NUMPY"))
    return usageError("{0}: expected a .npy file, got one that starts with {1}",
                      name, quoted(start.take_front(6)));
  unsigned major = uint8_t(start[6]), minor = uint8_t(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return usageError("{0}: expected .npy version 1.0, 2.0 or 3.0, got {1}.{2}",
                      name, major, minor);
  if (major == 1)
    return NpyPrefix{10, llvm::support::endian::read16le(start.data() + 8)};
  if (start.size() < 12)
    return usageError("{0}: expected a header, got a file of {1} bytes", name,
                      start.size());
  return NpyPrefix{12, llvm::support::endian::read32le(start.data() + 8)};
}

/// The whole text of the header; the file stands at its data then.
static llvm::Expected<std::string> readHeader(InputFile &file, StringRef name) {
  std::string text(12, '\0');
  llvm::Expected<size_t> count = file.read(text);
  if (!count)
    return count.takeError();
  llvm::Expected<NpyPrefix> prefix =
      readPrefix(StringRef(text).take_front(*count), name);
  if (!prefix)
    return prefix.takeError();
  constexpr uint64_t most = 1 << 20;
  uint64_t total = prefix->size + prefix->headerSize;
  if (file.size() && *file.size() < total)
    return usageError("{0}: expected a header within the file's {1} bytes, got "
                      "a header length of {2}",
                      name, *file.size(), prefix->headerSize);
  if (prefix->headerSize > most)
    return usageError("{0}: expected a header of at most {1} bytes, got a "
                      "header length of {2}",
                      name, most, prefix->headerSize);
  text.resize(std::max<uint64_t>(total, 12));
  count = file.read(llvm::MutableArrayRef<char>(text).drop_front(12));
  if (!count)
    return count.takeError();
  if (12 + *count < total)
    return usageError("{0}: expected a header of {1} bytes, got {2}", name,
                      prefix->headerSize, 12 + *count - prefix->size);
  return text.substr(prefix->size, prefix->headerSize);
}

/// Bytes that an array takes; nothing on overflow.
static std::optional<uint64_t> byteSize(llvm::ArrayRef<int64_t> shape,
                                        NpyType type) {
  uint64_t bytes = uint64_t(npyItemSize(type));
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t extent : shape) {
    bool overflow = false;
    if (!empty)
      bytes = llvm::SaturatingMultiply(bytes, uint64_t(extent), &overflow);
    if (overflow || bytes > INT64_MAX)
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

/// The bytes of an array of `type`, all the rest of the file.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readData(InputFile &file, uint64_t header, NpyType type,
         llvm::ArrayRef<int64_t> shape, StringRef name) {
  std::optional<uint64_t> bytes = byteSize(shape, type);
  auto wrongSize = [&](const llvm::Twine &got) {
    return usageError("{0}: expected {1} bytes of data for shape {2} of {3}, "
                      "got {4}",
                      name, bytes ? llvm::utostr(*bytes) : "over 2^63",
                      shapeText(shape), npyTypeName(type), got.str());
  };
  if (file.size() && bytes != *file.size() - header)
    return wrongSize(llvm::Twine(*file.size() - header));
  if (!bytes)
    return wrongSize("a file of unknown size");
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(*bytes, name);
  if (!buffer)
    return missingError("memory: expected {0} bytes for {1}, got a refusal "
                        "from the system; use a smaller array",
                        *bytes, name);
  llvm::Expected<size_t> count = file.read(buffer->getBuffer());
  if (!count)
    return count.takeError();
  char more;
  llvm::Expected<size_t> extra = file.read(more);
  if (!extra)
    return extra.takeError();
  // A file may shrink or grow while it is read.
  if (*count != *bytes || *extra)
    return wrongSize(*extra ? llvm::Twine("more") : llvm::Twine(*count));
  return buffer;
}

llvm::Expected<NpyArray> parseNpy(InputFile &file, StringRef name) {
  llvm::Expected<std::string> header = readHeader(file, name);
  if (!header)
    return header.takeError();
  HeaderParser parser(*header);
  if (!parser.parse())
    return usageError("{0}: expected a .npy header with descr, fortran_order "
                      "and shape, got {1}",
                      name, quoted(StringRef(*header).rtrim()));
  auto type = llvm::StringSwitch<std::optional<NpyType>>(*parser.descr)
                  .Case("<f4", NpyType::F4)
                  .Case("<f8", NpyType::F8)
                  .Case("<i4", NpyType::I4)
                  .Case("<i8", NpyType::I8)
                  .Default(std::nullopt);
  if (!type)
    return usageError("{0}: expected elements of <f4, <f8, <i4 or <i8, got {1}",
                      name, quoted(*parser.descr));
  if (*parser.fortran)
    return usageError("{0}: expected C order, got fortran_order True", name);
  uint64_t before = file.position();
  auto data = readData(file, before, *type, parser.shape, name);
  if (!data)
    return data.takeError();
  NpyArray array;
  array.type = *type;
  array.shape = parser.shape;
  array.buffer = std::move(*data);
  return array;
}

llvm::Expected<NpyArray> readNpy(StringRef path, bool floats, unsigned rank,
                                 bool optionalBatch) {
  llvm::Expected<InputFile> file = InputFile::open(path, path, ".npy file");
  if (!file)
    return file.takeError();
  llvm::Expected<NpyArray> array = parseNpy(*file, path);
  if (!array)
    return array.takeError();
  if (isFloat(array->type) != floats)
    return usageError("{0}: expected {1}, got {2}", path,
                      floats ? "floats (<f4 or <f8)" : "ids (<i4 or <i8)",
                      npyTypeName(array->type));
  if (optionalBatch && array->shape.size() + 1 == rank)
    array->shape.insert(array->shape.begin(), 1);
  if (array->shape.size() != rank)
    return usageError("{0}: expected {1} dimensions{2}, got shape {3}", path,
                      rank, optionalBatch ? " (the first may be missing)" : "",
                      shapeText(array->shape));
  return array;
}

std::string npyHeader(NpyType type, llvm::ArrayRef<int64_t> shape) {
  std::string extents;
  for (int64_t extent : shape)
    extents += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    extents.resize(extents.size() - 2);
  std::string text = llvm::formatv("{{'descr': '{0}', 'fortran_order': False, "
                                   "'shape': ({1}), }",
                                   npyTypeName(type), extents)
                         .str();
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(text.size() & 0xff);
  header += char(text.size() >> 8);
  return header + text;
}

} // namespace raytention::tool
