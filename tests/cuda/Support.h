//===- Support.h - printed kernels, compiled and run ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_CUDA_SUPPORT_H
#define RAYTENTION_TESTS_CUDA_SUPPORT_H

#include "runtime/device/Device.h"
#include "tests/device/Support.h"

#include <functional>

namespace raytention::test {

/// A gpu.module as CUDA C++; "" and a failed test where it does not parse or
/// print.
std::string printModule(llvm::StringRef module);
/// The same of the kernels that stand in one.
std::string printKernels(llvm::StringRef kernels);

/// Kernels printed as CUDA C++, compiled by NVRTC and loaded on the simt
/// device. What goes wrong fails the test.
class Kernels {
public:
  explicit Kernels(llvm::StringRef kernels) : Kernels() {
    load(printKernels(kernels));
  }
  static Kernels ofModule(llvm::StringRef module) {
    Kernels kernels;
    kernels.load(printModule(module));
    return kernels;
  }
  bool loaded() const { return module != nullptr; }

  template <class T>
  std::unique_ptr<device::Buffer> upload(const std::vector<T> &values) {
    auto buffer =
        llvm::cantFail(target->allocate(int64_t(values.size() * sizeof(T))));
    llvm::cantFail(buffer->copyFrom(values.data(), buffer->size()));
    return buffer;
  }
  template <class T> std::vector<T> download(const device::Buffer &buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    llvm::cantFail(buffer.copyTo(values.data(), buffer.size()));
    return values;
  }
  /// The kernel of that symbol.
  void launch(llvm::StringRef name, device::Dim3 grid, device::Dim3 block,
              const device::Arguments &arguments, int64_t sharedBytes = 0);
  /// The same with blocks and threads in x.
  void launch(llvm::StringRef name, int64_t blocks, int64_t threads,
              const device::Arguments &arguments, int64_t sharedBytes = 0) {
    launch(name, device::Dim3{blocks}, device::Dim3{threads}, arguments,
           sharedBytes);
  }

  std::string text;

private:
  Kernels();
  void load(std::string text);

  std::shared_ptr<device::Device> target;
  std::unique_ptr<device::Module> module;
};

/// Adds a memref: its address and its dynamic sizes.
void addMemRef(device::Arguments &arguments, const device::Buffer &buffer,
               llvm::ArrayRef<int64_t> sizes);

/// A kernel @name of out[i] = r for each i, where `body` computes %r of
/// `result` from %a, %b and %c of `operand`.
std::string makeElementwise(const std::string &name, const std::string &operand,
                            const std::string &result, const std::string &body);

/// An op and the same on the host; `isDefined` says for which operands it is.
template <class R, class T> struct OpCase {
  using Host = std::function<R(T, T, T)>;
  using Domain = std::function<bool(T, T)>;

  OpCase(std::string name, std::string body, Host host,
         Domain isDefined = Domain())
      : name(std::move(name)), body(std::move(body)), host(std::move(host)),
        isDefined(std::move(isDefined)) {}

  std::string name, body;
  Host host;
  Domain isDefined;
};

template <class T> struct Operands { std::vector<T> a, b, c; };

/// All pairs that the op is defined for, and a third that changes with them.
template <class R, class T>
Operands<T> pairsFor(const OpCase<R, T> &op, const std::vector<T> &values) {
  Operands<T> all;
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j) {
      if (op.isDefined && !op.isDefined(values[i], values[j]))
        continue;
      all.a.push_back(values[i]);
      all.b.push_back(values[j]);
      all.c.push_back(values[(3 * i + j + 1) % values.size()]);
    }
  return all;
}

/// Runs every op on all pairs of `values` in one module; `same(got, expected)`
/// says whether a result is right.
template <class R, class T>
void checkOps(const std::string &operand, const std::string &result,
              const std::vector<OpCase<R, T>> &ops,
              const std::vector<T> &values,
              const std::function<bool(R, R)> &same) {
  std::string text;
  for (const auto &op : ops)
    text += makeElementwise(op.name, operand, result, op.body);
  Kernels kernels(text);
  ASSERT_TRUE(kernels.loaded());
  for (const auto &op : ops) {
    Operands<T> in = pairsFor(op, values);
    int64_t count = in.a.size();
    auto a = kernels.upload(in.a), b = kernels.upload(in.b),
         c = kernels.upload(in.c), out = kernels.upload(std::vector<R>(count));
    device::Arguments arguments;
    for (const auto *buffer : {a.get(), b.get(), c.get(), out.get()})
      addMemRef(arguments, *buffer, {count});
    kernels.launch(op.name, (count + 63) / 64, 64, arguments);
    std::vector<R> got = kernels.download<R>(*out);
    for (int64_t i = 0; i < count; ++i) {
      R expected = op.host(in.a[i], in.b[i], in.c[i]);
      if (same(got[i], expected))
        continue;
      ADD_FAILURE() << op.name << "(" << +in.a[i] << ", " << +in.b[i] << ", "
                    << +in.c[i] << "): expected " << +expected << ", got "
                    << +got[i];
      break;
    }
  }
}

/// The same bits, any NaN being one.
template <class T> bool sameBits(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace raytention::test

#endif // RAYTENTION_TESTS_CUDA_SUPPORT_H
