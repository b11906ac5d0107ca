//===- FakeCuda.cpp - a CUDA driver in host memory ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The functions of Symbols.def, for tests: memory is the host's, work is done
// when it is given, kernels are the host code of Kernels.cu. It is strict where
// the driver is: a context has to be current, handles have to be alive. The
// environment decides:
//   RT_FAKE_CUDA_FAIL=cuX:N   cuX returns N
//   RT_FAKE_CUDA_DEVICES=N    number of GPUs (1)
//   RT_FAKE_CUDA_VERSION=N    CUDA version of the driver (13000)
//   RT_FAKE_CUDA_CAPABILITY=N compute capability of the GPUs (80)
// Built with RT_FAKE_OLD_DRIVER it lacks the functions that are optional.
//
//===----------------------------------------------------------------------===//

#include "tests/device/FakeCuda.h"
#include "tests/conformance/HostKernels.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

using namespace raytention::test::fake;
using raytention::test::HostKernel;
using raytention::test::hostKernels;
using raytention::test::ThreadPlace;

namespace {

constexpr int kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101,
              kInvalidImage = 200, kInvalidContext = 201, kInvalidHandle = 400,
              kNotFound = 500, kNotReady = 600;
constexpr size_t kMemory = size_t(1) << 30;
constexpr unsigned kMaxDynamicShared = 99 * 1024;

struct Function {
  const HostKernel *kernel;
  unsigned allowedShared = 48 * 1024;
};
struct Module {
  std::string text; ///< empty: machine code, which has every kernel
  std::map<std::string, Function> functions;
};
struct Event {
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, size_t> memory;
  std::set<void *> handles; ///< streams, events and modules
  size_t used = 0;
  int contexts = 0;
};
State &state() {
  static State *all = new State;
  return *all;
}

char theContext;
thread_local std::vector<void *> current;

int needHandle(void *handle) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().handles.count(handle) ? needContext() : kInvalidHandle;
}

template <typename T> int create(void **out) {
  T *made = new T;
  std::lock_guard<std::mutex> lock(state().mutex);
  state().handles.insert(made);
  *out = made;
  return 0;
}

template <typename T> int destroy(void *handle) {
  if (int result = needHandle(handle))
    return result;
  std::lock_guard<std::mutex> lock(state().mutex);
  state().handles.erase(handle);
  delete static_cast<T *>(handle);
  return 0;
}

/// All threads of one block, one after the other.
void runBlock(const HostKernel &kernel, void **arguments, ThreadPlace place) {
  for (uint32_t z = 0; z < place.extent[2]; ++z)
    for (uint32_t y = 0; y < place.extent[1]; ++y)
      for (uint32_t x = 0; x < place.extent[0]; ++x) {
        uint32_t thread[3] = {x, y, z};
        std::copy(thread, thread + 3, place.thread);
        kernel.run(arguments, place);
      }
}

} // namespace

int raytention::test::fake::number(const char *variable, int otherwise) {
  const char *value = std::getenv(variable);
  return value ? std::atoi(value) : otherwise;
}

int raytention::test::fake::wanted(const char *function) {
  const char *value = std::getenv("RT_FAKE_CUDA_FAIL");
  size_t length = std::strlen(function);
  if (!value || std::strncmp(value, function, length) || value[length] != ':')
    return 0;
  return std::atoi(value + length + 1);
}

int raytention::test::fake::needContext() {
  return !current.empty() && current.back() == &theContext &&
                 state().contexts > 0
             ? 0
             : kInvalidContext;
}

int raytention::test::fake::needMemory(uint64_t address, size_t bytes) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto it = state().memory.upper_bound(address);
  if (it == state().memory.begin())
    return kInvalidValue;
  --it;
  return address - it->first + bytes <= it->second ? needContext()
                                                   : kInvalidValue;
}

/// Forgets everything, as a new process would.
RT_FAKE(fakeCudaReset, void) {
  current.clear();
  std::lock_guard<std::mutex> lock(state().mutex);
  state().memory.clear();
  state().handles.clear();
  state().used = 0;
  state().contexts = 0;
  return 0;
}

/// Handles, allocations and contexts that were not given back.
RT_FAKE(fakeCudaLive, void) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return int(state().handles.size() + state().memory.size()) + state().contexts;
}

RT_FAKE(cuGetErrorName, int result, const char **name) {
  static const std::map<int, const char *> names = {
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kNotReady, "CUDA_ERROR_NOT_READY"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  auto it = names.find(result);
  *name = it == names.end() ? nullptr : it->second;
  return it == names.end() ? kInvalidValue : 0;
}
RT_FAKE(cuGetErrorString, int result, const char **text) {
  *text = result == 700 ? "an illegal memory access was encountered" : nullptr;
  return *text ? 0 : kInvalidValue;
}
RT_FAKE(cuInit, unsigned flags) {
  RT_FAIL_IF_WANTED();
  return flags ? kInvalidValue : 0;
}
RT_FAKE(cuDriverGetVersion, int *version) {
  RT_FAIL_IF_WANTED();
  *version = number("RT_FAKE_CUDA_VERSION", 13000);
  return 0;
}
RT_FAKE(cuDeviceGetCount, int *count) {
  RT_FAIL_IF_WANTED();
  *count = number("RT_FAKE_CUDA_DEVICES", 1);
  return *count ? 0 : kNoDevice;
}
RT_FAKE(cuDeviceGet, int *device, int ordinal) {
  RT_FAIL_IF_WANTED();
  *device = ordinal;
  return ordinal ? kInvalidDevice : 0;
}
RT_FAKE(cuDeviceGetName, char *name, int bytes, int) {
  RT_FAIL_IF_WANTED();
  std::strncpy(name, "Fake GPU", size_t(bytes));
  return 0;
}
RT_FAKE(cuDeviceTotalMem_v2, size_t *bytes, int) {
  RT_FAIL_IF_WANTED();
  *bytes = kMemory;
  return 0;
}
RT_FAKE(cuDeviceGetAttribute, int *value, int attribute, int) {
  RT_FAIL_IF_WANTED();
  static const std::map<int, int> values = {
      {1, 1024},  {2, 1024},  {3, 1024}, {4, 64}, {5, 2147483647},
      {6, 65535}, {7, 65535}, {10, 32},  {16, 2}, {97, kMaxDynamicShared}};
  int capability = number("RT_FAKE_CUDA_CAPABILITY", 80);
  auto it = values.find(attribute);
  if (it == values.end() && attribute != 75 && attribute != 76)
    return kInvalidValue;
  *value = attribute == 75   ? capability / 10
           : attribute == 76 ? capability % 10
                             : it->second;
  return 0;
}

RT_FAKE(cuDevicePrimaryCtxRetain, void **context, int) {
  RT_FAIL_IF_WANTED();
  std::lock_guard<std::mutex> lock(state().mutex);
  ++state().contexts;
  *context = &theContext;
  return 0;
}
RT_FAKE(cuDevicePrimaryCtxRelease_v2, int) {
  RT_FAIL_IF_WANTED();
  std::lock_guard<std::mutex> lock(state().mutex);
  return --state().contexts < 0 ? kInvalidContext : 0;
}
RT_FAKE(cuCtxPushCurrent_v2, void *context) {
  RT_FAIL_IF_WANTED();
  current.push_back(context);
  return 0;
}
RT_FAKE(cuCtxPopCurrent_v2, void **context) {
  RT_NEED(current.empty() ? kInvalidContext : 0);
  *context = current.back();
  current.pop_back();
  return 0;
}
RT_FAKE(cuCtxSynchronize, void) {
  RT_NEED(needContext());
  return 0;
}

RT_FAKE(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
  RT_NEED(needContext());
  std::lock_guard<std::mutex> lock(state().mutex);
  if (bytes == 0)
    return kInvalidValue;
  if (bytes > kMemory - state().used)
    return kOutOfMemory;
  void *memory = std::malloc(bytes);
  *address = reinterpret_cast<uint64_t>(memory);
  state().memory[*address] = bytes;
  state().used += bytes;
  return 0;
}
RT_FAKE(cuMemFree_v2, uint64_t address) {
  RT_NEED(needContext());
  std::lock_guard<std::mutex> lock(state().mutex);
  auto it = state().memory.find(address);
  if (it == state().memory.end())
    return kInvalidValue;
  state().used -= it->second;
  state().memory.erase(it);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
RT_FAKE(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes,
        void *stream) {
  RT_NEED(needHandle(stream));
  if (int result = needMemory(to, bytes))
    return result;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
RT_FAKE(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes,
        void *stream) {
  RT_NEED(needHandle(stream));
  if (int result = needMemory(from, bytes))
    return result;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
RT_FAKE(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes,
        void *stream) {
  RT_NEED(needHandle(stream));
  if (int result = needMemory(to, bytes))
    return result;
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return 0;
}

RT_FAKE(cuModuleLoadDataEx, void **module, const void *image, unsigned count,
        int *options, void **values) {
  RT_NEED(needContext());
  const char *bytes = static_cast<const char *>(image);
  bool machineCode = std::strncmp(bytes,
                                  "\x7f"
                                  "ELF",
                                  4) == 0;
  if (!machineCode && !std::strstr(bytes, ".version")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "fake: no .version");
    return kInvalidImage;
  }
  if (int result = create<Module>(module))
    return result;
  if (!machineCode)
    static_cast<Module *>(*module)->text = bytes;
  return 0;
}
RT_FAKE(cuModuleUnload, void *module) {
  RT_NEED(needHandle(module));
  return destroy<Module>(module);
}
RT_FAKE(cuModuleGetFunction, void **function, void *handle, const char *name) {
  RT_NEED(needHandle(handle));
  auto *module = static_cast<Module *>(handle);
  if (!module->text.empty() && module->text.find(name) == std::string::npos)
    return kNotFound;
  for (const HostKernel &kernel : hostKernels())
    if (kernel.name == name) {
      std::lock_guard<std::mutex> lock(state().mutex);
      auto it = module->functions.emplace(name, Function{&kernel}).first;
      *function = &it->second;
      return 0;
    }
  return kNotFound;
}
RT_FAKE(cuFuncGetAttribute, int *value, int attribute, void *) {
  RT_NEED(needContext());
  *value = attribute == 0 ? 1024 : attribute == 4 ? 16 : 0;
  return 0;
}
RT_FAKE(cuFuncSetAttribute, void *function, int attribute, int value) {
  RT_NEED(needContext());
  if (attribute != 8 || value < 0 || unsigned(value) > kMaxDynamicShared)
    return kInvalidValue;
  static_cast<Function *>(function)->allowedShared = unsigned(value);
  return 0;
}
#ifndef RT_FAKE_OLD_DRIVER
RT_FAKE(cuFuncGetParamInfo, void *function, size_t index, size_t *offset,
        size_t *bytes) {
  RT_NEED(needContext());
  const auto &sizes = static_cast<Function *>(function)->kernel->argumentBytes;
  if (index >= sizes.size())
    return kInvalidValue;
  *offset = 0;
  *bytes = size_t(sizes[index]);
  return 0;
}
#endif
RT_FAKE(cuLaunchKernel, void *handle, unsigned gx, unsigned gy, unsigned gz,
        unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
        void **arguments, void **extra) {
  RT_NEED(needHandle(stream));
  auto &function = *static_cast<Function *>(handle);
  if (!gx || !gy || !gz || !bx || !by || !bz || extra ||
      shared > function.allowedShared)
    return kInvalidValue;
  std::vector<unsigned char> scratch(shared);
  ThreadPlace place;
  uint32_t extent[3] = {bx, by, bz};
  std::copy(extent, extent + 3, place.extent);
  place.shared = scratch.data();
  for (uint32_t z = 0; z < gz; ++z)
    for (uint32_t y = 0; y < gy; ++y)
      for (uint32_t x = 0; x < gx; ++x) {
        uint32_t block[3] = {x, y, z};
        std::copy(block, block + 3, place.block);
        runBlock(*function.kernel, arguments, place);
      }
  return 0;
}

RT_FAKE(cuStreamCreate, void **stream, unsigned) {
  RT_NEED(needContext());
  return create<char>(stream);
}
RT_FAKE(cuStreamDestroy_v2, void *stream) {
  RT_NEED(needHandle(stream));
  return destroy<char>(stream);
}
RT_FAKE(cuStreamSynchronize, void *stream) {
  RT_NEED(needHandle(stream));
  return 0;
}
RT_FAKE(cuStreamWaitEvent, void *stream, void *event, unsigned flags) {
  RT_NEED(needHandle(stream));
  return flags ? kInvalidValue : needHandle(event);
}
RT_FAKE(cuEventCreate, void **event, unsigned) {
  RT_NEED(needContext());
  return create<Event>(event);
}
RT_FAKE(cuEventDestroy_v2, void *event) {
  RT_NEED(needHandle(event));
  return destroy<Event>(event);
}
RT_FAKE(cuEventRecord, void *event, void *stream) {
  RT_NEED(needHandle(stream));
  if (int result = needHandle(event))
    return result;
  static_cast<Event *>(event)->recorded = true;
  static_cast<Event *>(event)->time = std::chrono::steady_clock::now();
  return 0;
}
RT_FAKE(cuEventSynchronize, void *event) {
  RT_NEED(needHandle(event));
  return 0;
}
RT_FAKE(cuEventQuery, void *event) {
  RT_NEED(needHandle(event));
  return 0;
}
RT_FAKE(cuEventElapsedTime, float *milliseconds, void *start, void *end) {
  RT_NEED(needHandle(start));
  auto *from = static_cast<Event *>(start), *to = static_cast<Event *>(end);
  if (!from->recorded || !to->recorded)
    return kInvalidHandle;
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return 0;
}
