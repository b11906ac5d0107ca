// Code for other vector registers than this machine's, run and checked: layouts
// and register tiles follow from the width, results do not.
// RUN: rt-opt %S/../dialect/default-channels.mlir --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=128 --rt-outline-tasks --rt-cpu-entry -o %t.128.mlir
// RUN: rt run --ir %t.128.mlir --text %S/../data/plays.txt --vocab word --seq-len 250 --d-model 64 --decay-origin query --check | FileCheck %s
// RUN: rt-opt %S/../dialect/default-channels.mlir --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=512 --rt-outline-tasks --rt-cpu-entry -o %t.512.mlir
// RUN: rt run --ir %t.512.mlir --text %S/../data/plays.txt --vocab word --seq-len 250 --d-model 64 --decay-origin query --check | FileCheck %s

// CHECK: check of all 250 rows: passed
