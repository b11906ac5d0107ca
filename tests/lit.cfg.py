# Configuration of the lit tests; loaded by the lit.site.cfg.py of a build.
import os

import lit.formats

config.name = "RayTention"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["conformance", "cuda", "data", "device", "fuzz", "interface", "numerics", "unit",
                   "python"]
config.test_source_root = os.path.join(config.rt_src_root, "tests")
config.test_exec_root = os.path.join(config.rt_obj_root, "tests")

path = [os.path.join(config.rt_obj_root, "bin"), config.llvm_tools_dir,
        config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)

for library in ("mlir_runner_utils", "mlir_c_runner_utils"):
    config.substitutions.append(
        ("%" + library,
         os.path.join(config.llvm_lib_dir, "lib" + library + ".so")))
