//===- FewThreads.cpp - a system that has no more threads -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before a program (LD_PRELOAD): of its threads as many start as
// RT_TEST_THREADS says, the others are refused.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <pthread.h>

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                              void *(*body)(void *), void *argument) {
  using Function =
      int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static auto system =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  static const char *most = std::getenv("RT_TEST_THREADS");
  static std::atomic<int> started{0};
  if (most && started++ >= std::atoi(most))
    return EAGAIN;
  return system(thread, how, body, argument);
}
