//===- Status.h - how a call ended ------------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What calls of the C++ interface return: a status, or a value or the status
// that says why there is none.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_STATUS_H
#define RAYTENTION_STATUS_H

#include <cassert>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace raytention {

/// What a caller can do about a failure.
enum class StatusCode {
  Ok,
  InvalidArgument, ///< give what the message says was expected
  Unsupported,     ///< use another target, schedule or channel
  ResourceLimit,   ///< raise the limit that was given, or ask for less
  OutOfMemory,     ///< ask for less, or find a larger machine
  Unavailable,     ///< install what is missing: a library, a driver, a GPU
  Fault,           ///< mend the kernel: it ran wrong, or could not run
  Internal         ///< report it: this library is wrong
};

/// Success, or a code and a text that says what was expected and what was got.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : failure(code), text(std::move(message)) {}

  bool ok() const { return failure == StatusCode::Ok; }
  StatusCode code() const { return failure; }
  const std::string &message() const & { return text; }
  std::string message() && { return std::move(text); }

private:
  StatusCode failure = StatusCode::Ok;
  std::string text;
};

/// A value, or the status of a failure. The value is there if the result is
/// true, and only then.
template <typename T> class [[nodiscard]] Result {
  template <typename U>
  using IfValue = std::enable_if_t<std::is_convertible_v<U &&, T> &&
                                   !std::is_same_v<std::decay_t<U>, Status> &&
                                   !std::is_same_v<std::decay_t<U>, Result>>;

public:
  template <typename U = T, typename = IfValue<U>>
  Result(U &&value) : state(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Status failure) : state(std::in_place_index<1>, std::move(failure)) {
    if (std::get<1>(state).ok())
      state.template emplace<1>(StatusCode::Internal,
                                "expected a value or a failure, got neither");
  }

  explicit operator bool() const { return state.index() == 0; }
  Status status() const { return *this ? Status() : std::get<1>(state); }

  T &operator*() & { return *pointer(); }
  const T &operator*() const & { return *pointer(); }
  T &&operator*() && { return std::move(*pointer()); }
  T *operator->() { return pointer(); }
  const T *operator->() const { return pointer(); }

private:
  T *pointer() {
    assert(*this && "a failure has no value");
    return std::get_if<0>(&state);
  }
  const T *pointer() const { return const_cast<Result *>(this)->pointer(); }

  std::variant<T, Status> state;
};

} // namespace raytention

#endif // RAYTENTION_STATUS_H
