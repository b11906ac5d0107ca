//===- SharedLibrary.cpp - libraries opened at run time -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/SharedLibrary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace raytention;

std::string raytention::environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// The file behind an open handle.
static std::string loadedFile(void *handle, StringRef asked) {
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name)
    return map->l_name;
  return asked.str();
}

Expected<SharedLibrary> SharedLibrary::open(const LibrarySearch &search) {
  std::string hide = environment("RT_HIDE_CUDA");
  if (!hide.empty() && hide != "0")
    return createStringError(search.title +
                             " is hidden: expected RT_HIDE_CUDA unset or 0, "
                             "got " +
                             hide);
  std::string named = environment(search.pathVariable);
  std::vector<std::string> candidates = search.candidates;
  if (!named.empty())
    candidates = {named};
  std::string refusal;
  for (const std::string &candidate : candidates) {
    if (void *handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      SharedLibrary library(handle, search.title);
      library.file = loadedFile(handle, candidate);
      return library;
    }
    const char *reason = dlerror();
    refusal = reason ? reason : "no reason given";
  }
  if (!named.empty())
    return createStringError(Twine(search.pathVariable) +
                             ": expected a file that opens as " + search.title +
                             ", got: " + refusal);
  return createStringError(search.title + " was not found: expected " +
                           search.candidates.front() + " " + search.where +
                           "; " + search.howToGet);
}

void *SharedLibrary::find(const char *name) const {
  return dlsym(handle, name);
}

Error SharedLibrary::missing(const char *name) const {
  return createStringError(title + " in " + file + ": expected the function " +
                           name +
                           ", got a library without it; use a newer one");
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

/// Folders in `parent` whose name starts with `prefix`, newest version first.
static std::vector<std::string> foldersNamed(StringRef parent,
                                             StringRef prefix) {
  std::vector<std::string> found;
  std::error_code code;
  for (sys::fs::directory_iterator it(parent, code), end; it != end && !code;
       it.increment(code))
    if (sys::path::filename(it->path()).starts_with(prefix))
      found.push_back(it->path());
  std::sort(found.begin(), found.end(),
            [](StringRef a, StringRef b) { return a.compare_numeric(b) > 0; });
  return found;
}

static std::vector<std::string> toolkitFolders() {
  std::vector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string value = environment(variable); !value.empty())
      roots.push_back(value);
  for (std::string &folder : foldersNamed("/usr/local", "cuda"))
    roots.push_back(std::move(folder));
  std::vector<std::string> folders;
  for (const std::string &root : roots)
    for (const char *inner :
         {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
      folders.push_back(root + "/" + inner);
  return folders;
}

static std::vector<std::string>
packageFoldersOf(ArrayRef<std::string> packageFolders) {
  std::vector<std::string> roots;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string value = environment(variable); !value.empty())
      roots.push_back(value + "/lib");
  if (std::string home = environment("HOME"); !home.empty())
    roots.push_back(home + "/.local/lib");
  roots.insert(roots.end(), {"/usr/local/lib", "/usr/lib"});
  std::vector<std::string> folders;
  for (const std::string &root : roots)
    for (const std::string &python : foldersNamed(root, "python3"))
      for (const char *site : {"site-packages", "dist-packages"})
        for (const std::string &package : packageFolders)
          folders.push_back(python + "/" + site + "/" + package);
  return folders;
}

std::vector<std::string>
raytention::findToolkitFiles(ArrayRef<std::string> fileNames,
                             ArrayRef<std::string> packageFolders) {
  std::vector<std::string> folders = toolkitFolders();
  for (std::string &folder : packageFoldersOf(packageFolders))
    folders.push_back(std::move(folder));
  std::vector<std::string> found;
  for (const std::string &folder : folders)
    for (const std::string &name : fileNames)
      if (std::string path = folder + "/" + name; sys::fs::exists(path))
        found.push_back(path);
  return found;
}
