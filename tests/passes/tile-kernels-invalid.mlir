// RUN: rt-opt %s --rt-tile-kernels=query-chunk=-1 -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a positive query-chunk, got -1}}
func.func @negative() attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored>} {
  return
}

// -----

// expected-error @+1 {{expected rt.schedule to be #rt.schedule, got 32 : i64}}
func.func @schedule() attributes {rt.schedule = 32 : i64} {
  return
}
