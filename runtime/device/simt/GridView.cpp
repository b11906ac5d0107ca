//===- GridView.cpp - what is known of other blocks -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/GridView.h"
#include "runtime/device/simt/Clock.h"

#include <algorithm>

using namespace raytention::simt;

/// Releases at a place that are kept apart, so that who read before a later one
/// does not know of it.
static constexpr size_t kMaxEntries = 1024;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static bool isBefore(const GridView::Known &known, uint32_t block) {
  return known.block < block;
}

const GridView::Known *GridView::findKnown(uint32_t block) const {
  auto found = std::lower_bound(known.begin(), known.end(), block, isBefore);
  return found != known.end() && found->block == block ? &*found : nullptr;
}

const View *GridView::find(uint32_t block) const {
  const Known *found = findKnown(block);
  return found ? found->view.get() : nullptr;
}

bool GridView::knowsAll(uint32_t mask, uint32_t epoch, uint32_t block,
                        uint64_t count) const {
  if (count > 32)
    return known.size() + !find(block) == count;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t other = __builtin_ctz(rest);
    const Known *found = other == block ? nullptr : findKnown(other);
    if (other != block && (!found || found->epoch <= epoch))
      return false;
  }
  return true;
}

/// Both know of the same block: the one that knows all the other does, or what
/// they know together.
static GridView::Known joinOne(const GridView::Known &a,
                               const GridView::Known &b) {
  uint32_t epoch = std::max(a.epoch, b.epoch);
  if (a.view == b.view || a.view->includes(*b.view))
    return {a.block, epoch, a.view};
  if (b.view->includes(*a.view))
    return {a.block, epoch, b.view};
  auto both = std::make_shared<View>(*a.view);
  both->join(*b.view, kMaxWarps);
  return {a.block, epoch, std::move(both)};
}

static bool isSame(const GridView::Known &a, const GridView::Known &b) {
  return a.block == b.block && a.epoch == b.epoch && a.view == b.view;
}

static bool isSame(const std::vector<GridView::Known> &a,
                   const std::vector<GridView::Known> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const GridView::Known &x, const GridView::Known &y) {
                      return isSame(x, y);
                    });
}

GridPointer raytention::simt::join(const GridPointer &a, const GridPointer &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  std::vector<GridView::Known> both;
  both.reserve(a->all().size() + b->all().size());
  auto left = a->all().begin(), right = b->all().begin();
  while (left != a->all().end() && right != b->all().end()) {
    if (left->block == right->block)
      both.push_back(joinOne(*left++, *right++));
    else
      both.push_back(left->block < right->block ? *left++ : *right++);
  }
  both.insert(both.end(), left, a->all().end());
  both.insert(both.end(), right, b->all().end());
  // Who knows it all keeps its own: later joins are then cheap.
  if (isSame(both, a->all()))
    return a;
  if (isSame(both, b->all()))
    return b;
  return std::make_shared<GridView>(std::move(both));
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

void GridLog::append(GridPointer released) {
  std::lock_guard<std::mutex> lock(mutex);
  if (entries.empty() || entries.back() != released)
    entries.push_back(std::move(released));
}

size_t GridLog::size() const {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

/// In halves, so that many small ones cost little.
static GridPointer joinRange(const GridPointer *first, size_t count) {
  if (count <= 1)
    return count ? *first : nullptr;
  return join(joinRange(first, count / 2),
              joinRange(first + count / 2, count - count / 2));
}

GridPointer GridLog::join(size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (count < joinedCount)
    return joinRange(entries.data(), count);
  GridPointer rest =
      joinRange(entries.data() + joinedCount, count - joinedCount);
  joined = raytention::simt::join(joined, rest);
  joinedCount = count;
  return joined;
}

void GridReleases::release(const uint8_t *place, const GridPointer &released) {
  any.store(true, std::memory_order_relaxed);
  Shard &shard = shardOf(place);
  std::lock_guard<std::mutex> lock(shard.mutex);
  std::shared_ptr<GridLog> &log = shard.logs[place];
  size_t size = log ? log->size() : 0;
  if (!log || size >= kMaxEntries) {
    GridPointer before = log ? log->join(size) : nullptr;
    log = std::make_shared<GridLog>();
    if (before)
      log->append(std::move(before));
  }
  log->append(released);
}

void GridReleases::acquire(const uint8_t *place, GridKnowledge &into) {
  if (!any.load(std::memory_order_relaxed))
    return;
  Shard &shard = shardOf(place);
  std::lock_guard<std::mutex> lock(shard.mutex);
  auto found = shard.logs.find(place);
  if (found != shard.logs.end())
    into.add(found->second, found->second->size());
}

//===----------------------------------------------------------------------===//
// Knowledge
//===----------------------------------------------------------------------===//

void GridKnowledge::add(std::shared_ptr<GridLog> log, size_t count) {
  for (Unread &one : unread)
    if (one.log == log) {
      one.count = std::max(one.count, count);
      return;
    }
  unread.push_back({std::move(log), count});
}

void GridKnowledge::join(const GridKnowledge &other) {
  known = raytention::simt::join(known, other.known);
  for (const Unread &one : other.unread)
    add(one.log, one.count);
}

const GridPointer &GridKnowledge::get() const {
  for (const Unread &one : unread)
    known = raytention::simt::join(known, one.log->join(one.count));
  unread.clear();
  return known;
}
