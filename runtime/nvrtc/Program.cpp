//===- Program.cpp - one compilation by NVRTC -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/Program.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::nvrtc;

Program::Program(Program &&other)
    : api(other.api), source(other.source), handle(other.handle) {
  other.handle = nullptr;
}

Program::~Program() {
  if (handle)
    api.nvrtcDestroyProgram(&handle);
}

Expected<Program> Program::create(const Api &api, const Source &source) {
  Program program(api, source);
  std::vector<const char *> names, texts;
  for (const Header &header : source.headers) {
    names.push_back(header.name.c_str());
    texts.push_back(header.text.c_str());
  }
  if (Error error = api.call(api.nvrtcCreateProgram, &program.handle,
                             source.text.c_str(), source.name.c_str(),
                             int(names.size()), texts.data(), names.data()))
    return error;
  for (const std::string &expression : source.nameExpressions)
    if (Error error = api.call(api.nvrtcAddNameExpression, program.handle,
                               expression.c_str()))
      return error;
  return program;
}

Error Program::compile(StringRef arch) const {
  std::vector<std::string> options = {"--gpu-architecture=" + arch.str(),
                                      "--std=c++17"};
  if (arch.starts_with("sm_"))
    options.push_back("--ptxas-options=-v");
  if (source.lineInfo)
    options.push_back("--generate-line-info");
  options.insert(options.end(), source.options.begin(), source.options.end());
  std::vector<const char *> pointers;
  for (const std::string &option : options)
    pointers.push_back(option.c_str());
  int result =
      api.nvrtcCompileProgram(handle, int(pointers.size()), pointers.data());
  if (result == kSuccess)
    return Error::success();
  Expected<std::string> text = log();
  std::string details = text ? *text : toString(text.takeError());
  return createStringError(
      source.name + " for " + arch + ": " +
      toString(api.failure(api.nvrtcCompileProgram.name, result)) +
      (details.empty() ? "" : "\n" + StringRef(details).rtrim().str()));
}

/// A text or bytes whose size and content come from two calls.
template <typename Bytes>
static Expected<Bytes> read(const Api &api, void *program,
                            const Symbol<int(void *, size_t *)> &size,
                            const Symbol<int(void *, char *)> &content) {
  size_t bytes = 0;
  if (Error error = api.call(size, program, &bytes))
    return error;
  Bytes out(bytes, '\0');
  if (bytes > 0)
    if (Error error = api.call(content, program, out.data()))
      return error;
  return out;
}

/// Without the terminating zero that NVRTC counts.
static Expected<std::string> withoutZero(Expected<std::string> text) {
  if (text && !text->empty() && text->back() == '\0')
    text->pop_back();
  return text;
}

Expected<std::string> Program::log() const {
  return withoutZero(read<std::string>(api, handle, api.nvrtcGetProgramLogSize,
                                       api.nvrtcGetProgramLog));
}

Expected<std::string> Program::ptx() const {
  return withoutZero(
      read<std::string>(api, handle, api.nvrtcGetPTXSize, api.nvrtcGetPTX));
}

Expected<std::vector<char>> Program::cubin() const {
  return read<std::vector<char>>(api, handle, api.nvrtcGetCUBINSize,
                                 api.nvrtcGetCUBIN);
}

Expected<std::string>
Program::loweredName(const std::string &expression) const {
  const char *name = nullptr;
  if (Error error =
          api.call(api.nvrtcGetLoweredName, handle, expression.c_str(), &name))
    return createStringError(source.name + ": name expression '" + expression +
                             "': " + toString(std::move(error)));
  return name;
}
