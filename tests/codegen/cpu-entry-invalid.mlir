// RUN: rt-opt %s --rt-cpu-entry --split-input-file --verify-diagnostics

// expected-error @below {{expected buffers and scalars as arguments of an entry point, got 'tensor<?xf32>' as argument 1}}
func.func @f(%m: memref<?xf32>, %t: tensor<?xf32>) {
  return
}

// -----

func.func @f(%n: index) {
  return
}
// expected-error @below {{expected another name than that of the entry point of @f}}
func.func private @f_entry(%p: !llvm.ptr) {
  return
}
