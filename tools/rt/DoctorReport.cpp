//===- DoctorReport.cpp - what doctor found, in words ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Doctor.h"

#include "tools/rt/Report.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace raytention::device;
namespace json = llvm::json;

namespace raytention::tool {

static void printLibrary(llvm::StringRef title, const FoundLibrary &library,
                         llvm::StringRef more, llvm::raw_ostream &os) {
  os << llvm::left_justify(title, 8);
  if (library.found)
    os << library.version << " in " << library.path << more << "\n";
  else
    os << "none: " << library.problem << "\n";
}

static void printDevice(const FoundDevice &device, llvm::raw_ostream &os) {
  os << llvm::left_justify(device.name, 8);
  if (!device.found) {
    os << "none: " << device.problem << "\n";
    return;
  }
  const Capabilities &can = device.capabilities;
  os << can.description;
  if (can.computeCapability)
    os << ", compute capability " << can.computeCapability / 10 << "."
       << can.computeCapability % 10;
  os << ", " << can.processors
     << (device.kind == DeviceKind::Cuda ? " multiprocessors" : " cores")
     << ", " << (can.memoryBytes >> 20) << " MiB\n        ";
  if (device.passed)
    os << "a kernel was compiled, run and right, "
       << llvm::format("%.1f", device.milliseconds) << " ms\n";
  else
    os << (device.missing ? "no kernel was run: " : "a kernel FAILED: ")
       << device.problem << "\n";
}

/// "64 cores, 8 by affinity, quota of 2.5: 3 workers, 512-bit vectors".
static void printHost(const Diagnosis &diagnosis, llvm::raw_ostream &os) {
  const CpuCount &cpus = diagnosis.cpus;
  int workers = cpus.workers();
  os << "host    " << cpus.online << (cpus.online == 1 ? " core" : " cores");
  if (cpus.allowed != cpus.online)
    os << ", " << cpus.allowed << " by affinity";
  if (cpus.quota)
    os << ", quota of " << numberText(*cpus.quota);
  os << ": " << workers << (workers == 1 ? " worker" : " workers")
     << " by default; " << diagnosis.vectorBits << "-bit vectors\n";
}

void printDiagnosis(const Diagnosis &diagnosis, llvm::raw_ostream &os) {
  printHost(diagnosis, os);
  std::string archs, gpus = ", " + std::to_string(diagnosis.gpus) + " GPUs";
  for (int arch : diagnosis.architectures)
    archs += (archs.empty() ? ", for " : " ") + std::to_string(arch);
  printLibrary("nvrtc", diagnosis.nvrtc, archs, os);
  printLibrary("driver", diagnosis.driver, gpus, os);
  for (const FoundDevice &device : diagnosis.devices)
    printDevice(device, os);
}

static json::Object toJson(const FoundLibrary &library) {
  if (!library.found)
    return json::Object{{"found", false},
                        {"problem", jsonText(library.problem)}};
  return json::Object{{"found", true},
                      {"path", jsonText(library.path)},
                      {"version", library.version}};
}

static json::Object toJson(const FoundDevice &device) {
  json::Object object{{"kind", getName(device.kind)},
                      {"name", device.name},
                      {"found", device.found},
                      {"passed", device.passed}};
  if (!device.problem.empty())
    object["problem"] = jsonText(device.problem);
  if (device.passed)
    object["probe_ms"] = device.milliseconds;
  if (!device.found)
    return object;
  const Capabilities &can = device.capabilities;
  object["description"] = jsonText(can.description);
  object["processors"] = can.processors;
  object["memory_bytes"] = can.memoryBytes;
  object["warp_size"] = can.warpSize;
  object["max_threads_per_block"] = can.maxThreadsPerBlock;
  object["max_shared_bytes"] = can.maxSharedBytes;
  object["compute_capability"] = can.computeCapability;
  return object;
}

void printDiagnosisJson(const Diagnosis &diagnosis, llvm::raw_ostream &os) {
  json::Array devices;
  for (const FoundDevice &device : diagnosis.devices)
    devices.push_back(toJson(device));
  json::Object nvrtc = toJson(diagnosis.nvrtc);
  if (diagnosis.nvrtc.found)
    nvrtc["architectures"] = json::Array(diagnosis.architectures);
  json::Object driver = toJson(diagnosis.driver);
  if (diagnosis.driver.found)
    driver["gpus"] = diagnosis.gpus;
  json::Object host{{"cores", diagnosis.cpus.online},
                    {"allowed_cores", diagnosis.cpus.allowed},
                    {"cpu_quota", jsonNumber(diagnosis.cpus.quota)},
                    {"workers", diagnosis.cpus.workers()},
                    {"vector_bits", diagnosis.vectorBits}};
  os << json::Value(json::Object{{"version", jsonVersion},
                                 {"host", std::move(host)},
                                 {"nvrtc", std::move(nvrtc)},
                                 {"driver", std::move(driver)},
                                 {"devices", std::move(devices)}})
     << "\n";
}

} // namespace raytention::tool
